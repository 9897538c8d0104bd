package io.heddle.transport.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.transport.control.ControlMessage.PlaneAddress;
import io.heddle.transport.control.ControlMessage.PlaneOffer;
import io.heddle.transport.device.LocalPlane;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

class PlaneEndsTest {
  private final PlaneEnds ends =
      new PlaneEnds(
          List.of(here("if:e1", "fd00:1:1:1::1"), here("if:e2", "fd00:1:1:2::1")),
          List.of(there("if:e1", "fd00:1:1:1::2"), there("if:e2", "fd00:1:1:2::2")));

  private static Gid gid(String text) {
    return Gid.of(InetAddress.ofLiteral(text));
  }

  private static LocalPlane here(String key, String address) {
    return new LocalPlane(key, key, gid(address), 64, PathMtu.MTU_4096, key.substring(3));
  }

  private static PlaneOffer there(String key, String address) {
    return new PlaneOffer(key, key, gid(address), 64, key.substring(3), PathMtu.MTU_4096);
  }

  private static PlaneAddress at(String address, PathMtu mtu) {
    return new PlaneAddress(gid(address), mtu);
  }

  @Test
  void eitherEndMovesIndependentlyAndIsReportedOnce() {
    ends.moveLocal(0, here("if:e1", "fd00:1:1:1::1"));
    ends.moveRemote(List.of(1), List.of(at("fd00:1:1:2::2", PathMtu.MTU_4096)));
    assertFalse(ends.takeAddressesChanged());
    ends.moveLocal(0, here("if:e1", "fd00:2:2:1::1"));
    ends.moveRemote(List.of(1), List.of(at("fd00:2:2:2::2", PathMtu.MTU_1024)));
    assertTrue(ends.takeAddressesChanged());
    assertFalse(ends.takeAddressesChanged());
    assertEquals(List.of(gid("fd00:2:2:1::1"), gid("fd00:1:1:2::1")), ends.localGids());
    assertEquals(List.of(gid("fd00:1:1:1::2"), gid("fd00:2:2:2::2")), ends.remoteGids());
    assertEquals(PathMtu.MTU_4096, ends.smallestMtu(List.of(0)));
    assertEquals(PathMtu.MTU_1024, ends.smallestMtu(List.of(0, 1)));
  }

  @Test
  void planeIsFoundByItsKeyAtAnyAddress() {
    assertEquals(1, ends.indexOf(here("if:e2", "fd00:9:9:9::1")));
    assertEquals(-1, ends.indexOf(here("if:e3", "fd00:1:1:2::1")));
  }

  @Test
  void peerMayNotPutTwoPlanesOnOneAddress() {
    HeddleException refused =
        assertThrows(
            HeddleException.class,
            () -> ends.moveRemote(List.of(1), List.of(at("fd00:1:1:1::2", PathMtu.MTU_4096))));
    assertEquals(
        "the other end has two planes on one address: [if:e1 on fd00:1:1:1::2, if:e2 on"
            + " fd00:1:1:1::2]",
        refused.getMessage());
    assertFalse(ends.takeAddressesChanged());
    assertEquals(gid("fd00:1:1:2::2"), ends.remoteGid(1));
  }
}
