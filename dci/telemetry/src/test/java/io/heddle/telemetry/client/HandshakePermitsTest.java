package io.heddle.telemetry.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of the order and the number of concurrent handshakes. */
final class HandshakePermitsTest {
  private final HandshakePermits permits = new HandshakePermits(2);
  private final List<String> begun = new ArrayList<>();

  private HandshakePermits.Permit take(String name) {
    return permits.acquire(() -> begun.add(name));
  }

  @Test
  void permitsAreGrantedInOrder() {
    HandshakePermits.Permit first = take("a");
    HandshakePermits.Permit second = take("b");
    take("c");
    take("d");
    assertEquals(List.of("a", "b"), begun);
    second.release();
    assertEquals(List.of("a", "b", "c"), begun);
    first.release();
    assertEquals(List.of("a", "b", "c", "d"), begun);
  }

  @Test
  void permitReleasedTwiceCountsOnce() {
    HandshakePermits.Permit first = take("a");
    take("b");
    take("c");
    take("d");
    first.release();
    first.release();
    assertEquals(List.of("a", "b", "c"), begun);
  }

  @Test
  void waiterThatLeavesGetsNoPermit() {
    HandshakePermits.Permit first = take("a");
    take("b");
    HandshakePermits.Permit third = take("c");
    take("d");
    third.release();
    assertEquals(List.of("a", "b"), begun);
    first.release();
    assertEquals(List.of("a", "b", "d"), begun);
    third.release();
    assertEquals(List.of("a", "b", "d"), begun, "it had left already");
  }

  @Test
  void permitMayBeReleasedWhenGranted() {
    for (int i = 0; i < 5; i++) {
      take("x").release();
    }
    assertEquals(5, begun.size());
  }
}
