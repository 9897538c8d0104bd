package io.heddle.bgp.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PrefixTest {
  @Test
  void parsesAndPrintsText() {
    for (String text :
        List.of("::/0", "fd00:aa::/32", "fd00:aa:0:5::5/128", "fd00::8000:0:0:0/65", "8000::/1")) {
      assertEquals(text, Prefix.of(text).toString());
    }
    assertEquals("fd00::1/128", Prefix.of("fd00::1").toString());
    assertEquals("fd00:aa::/32", Prefix.of("fd00:aa:bb::1/32").toString());
  }

  @Test
  void refusesMalformedText() {
    for (String text :
        List.of("", "fd00::/129", "fd00::/-1", "fd00::/x", "10.0.0.0/33", "fd00::g/64")) {
      assertThrows(IllegalArgumentException.class, () -> Prefix.of(text), text);
    }
  }

  @Test
  void coversAddressesWithItsBits() {
    Prefix aggregate = Prefix.of("fd00:aa::/32");
    assertTrue(aggregate.covers(Prefix.of("fd00:aa:0:5::5")));
    assertTrue(aggregate.covers(aggregate));
    assertFalse(aggregate.covers(Prefix.of("fd00:ab::1")));
    assertFalse(aggregate.covers(Prefix.of("fd00::/16")));
    assertTrue(Prefix.DEFAULT_ROUTE.covers(aggregate));
    assertTrue(Prefix.of("fd00::8000:0:0:0/65").covers(Prefix.of("fd00::ffff:0:0:1")));
    assertFalse(Prefix.of("fd00::8000:0:0:0/65").covers(Prefix.of("fd00::7fff:0:0:1")));
  }

  @Test
  void sortsByAddressThenLength() {
    List<String> sorted =
        Stream.of("fe80::/10", "fd00::/64", "fd00::/16", "::/0", "fd00::1")
            .map(Prefix::of)
            .sorted()
            .map(Prefix::toString)
            .toList();
    assertEquals(List.of("::/0", "fd00::/16", "fd00::/64", "fd00::1/128", "fe80::/10"), sorted);
  }

  @Test
  void prefixesOfAnUpdateKeepTheirOrder() {
    List<Prefix> some = List.of(Prefix.of("fd00::1"), Prefix.of("::/0"), Prefix.of("fd00:2::/32"));
    Nlri nlri = Nlri.of(some);
    assertEquals(some, nlri.prefixes());
    assertEquals(nlri, Nlri.of(some.getFirst()).plus(Nlri.of(some.subList(1, 3))));
    assertEquals(128, nlri.length(0));
  }
}
