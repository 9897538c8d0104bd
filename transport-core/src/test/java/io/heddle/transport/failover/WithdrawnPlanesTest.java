package io.heddle.transport.failover;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class WithdrawnPlanesTest {
  @Test
  void silenceLimitFollowsTheDurationOfSends() {
    assertEquals(20_000_000, WithdrawnPlanes.silenceLimitNs(0));
    assertEquals(20_000_000, WithdrawnPlanes.silenceLimitNs(1_000_000));
    assertEquals(40_000_000, WithdrawnPlanes.silenceLimitNs(10_000_000));
    assertEquals(60_000_000, WithdrawnPlanes.silenceLimitNs(300_000_000));
  }
}
