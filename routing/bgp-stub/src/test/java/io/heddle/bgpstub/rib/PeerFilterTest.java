package io.heddle.bgpstub.rib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.wire.OrfEntry;
import io.heddle.bgp.wire.Prefix;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class PeerFilterTest {
  private static final Prefix A = Prefix.of("fd00:aa:0:5::5");
  private static final Prefix B = Prefix.of("fd00:aa:0:6::6");
  private static final Prefix C = Prefix.of("fd00:aa::/32");

  @Test
  void unwantedPrefixIsDeniedUnderItsNumber() {
    PeerFilter filter = new PeerFilter();
    assertEquals(
        List.of(OrfEntry.permit(5, C), OrfEntry.permit(10, A)), filter.rebuild(Set.of(A, C)));
    assertEquals(
        List.of(OrfEntry.deny(10, A), OrfEntry.permit(15, B)), filter.update(Set.of(B, C)));
    assertEquals(List.of(), filter.update(Set.of(C, B)));
    assertEquals(List.of(OrfEntry.permit(10, A)), filter.update(Set.of(A, B, C)));
  }

  @Test
  void filterOfMostlyDeniedLinesIsRebuilt() {
    PeerFilter filter = new PeerFilter();
    Set<Prefix> many = new TreeSet<>();
    for (int i = 0; i < 100; i++) {
      many.add(new Prefix(0xfd00L << 48, i, 128));
    }
    filter.rebuild(many);
    assertFalse(filter.needsRebuild());
    filter.update(Set.of(A));
    assertTrue(filter.needsRebuild());
    assertEquals(List.of(OrfEntry.permit(5, A)), filter.rebuild(Set.of(A)));
    assertFalse(filter.needsRebuild());
  }
}
