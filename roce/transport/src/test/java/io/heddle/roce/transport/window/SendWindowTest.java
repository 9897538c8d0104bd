package io.heddle.roce.transport.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SendWindowTest {
  private static final long MS = 1_000_000;

  private long nowNs = 1;

  private SendWindow window(int limit) {
    SendWindow window = new SendWindow();
    window.reset(limit, 32, nowNs);
    return window;
  }

  /*
   * Acknowledges everything in flight after this round trip. The next packet is sent just
   * afterwards.
   */
  private void round(SendWindow window, long roundTripNs, long waitedNs) {
    long sentAtNs = ++nowNs;
    nowNs += roundTripNs;
    window.measured(sentAtNs, nowNs, waitedNs);
    window.acknowledged(window.packets(), window.packets());
  }

  /* Simulates a link whose only delay is this time per packet. Returns the last round trip. */
  private long rounds(SendWindow window, long packetNs, int count) {
    long roundTrip = 0;
    for (int i = 0; i < count; i++) {
      roundTrip = window.packets() * packetNs + 50_000;
      round(window, roundTrip, 0);
    }
    return roundTrip;
  }

  @Test
  void growsToTheLimitAndShrinksOnLoss() {
    SendWindow window = window(512);
    window.acknowledged(1000, 128);
    assertEquals(512, window.packets());
    window.lost();
    assertEquals(384, window.packets());
    window.silent();
    assertEquals(32, window.packets());
    for (int i = 0; i < 100; i++) {
      window.acknowledged(64, window.packets());
    }
    assertTrue(window.packets() > 192 && window.packets() <= 512, "grew to " + window.packets());
  }

  @Test
  void aSmallReceiveBufferBoundsEverything() {
    SendWindow window = window(8);
    for (int i = 0; i < 10; i++) {
      window.lost();
      window.silent();
      window.acknowledged(100, 8);
      round(window, 50 * MS, 0);
      assertEquals(8, window.packets());
    }
  }

  @Test
  void unfilledWindowDoesNotGrow() {
    SendWindow window = window(512);
    for (int i = 0; i < 1000; i++) {
      window.acknowledged(1, 1);
    }
    assertEquals(128, window.packets());
  }

  @Test
  void slowLinkIsBusyWithoutLongQueue() {
    /* 4,200 bytes at 1 Gbit/s */
    SendWindow window = window(512);
    round(window, 100_000, 0);
    long roundTrip = rounds(window, 33_600, 100);
    assertTrue(roundTrip > 2 * MS && roundTrip < 7 * MS, "round trip " + roundTrip);
  }

  @Test
  void theSlowestLinkGetsTwoTrainsAtMost() {
    /* 4,200 bytes at 0.1 Gbit/s */
    SendWindow window = window(512);
    round(window, 100_000, 0);
    rounds(window, 336_000, 7);
    assertEquals(32, window.packets());
  }

  @Test
  void cpuWaitsKeepWindowOfFastLink() {
    SendWindow window = window(512);
    round(window, 100_000, 0);
    for (int i = 0; i < 100; i++) {
      round(window, 16 * MS, 15 * MS);
      round(window, 200_000, 20_000);
    }
    assertEquals(512, window.packets());
  }

  @Test
  void windowShrinksOncePerRoundTrip() {
    SendWindow window = window(512);
    window.measured(0, 100_000, 0);
    nowNs = 20 * MS;
    window.measured(MS, nowNs, 0);
    int once = window.packets();
    assertTrue(once < 64, "reduced to " + once);
    for (int i = 0; i < 20; i++) {
      window.measured(MS + i, ++nowNs, 0);
    }
    assertEquals(once, window.packets());
  }

  @Test
  void longerPathIsLearned() {
    SendWindow window = window(512);
    round(window, 100_000, 0);
    for (int i = 0; i < 20; i++) {
      round(window, 60 * MS, 0);
    }
    for (int i = 0; i < 20; i++) {
      round(window, 60 * MS, 0);
    }
    assertTrue(window.packets() > 128, "grew to " + window.packets());
  }
}
