package io.heddle.bgp.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BackoffTest {
  private static final long FIRST = 1_000;
  private static final long MOST = 8_000;

  /*
   * After a leaf's restart all its hosts have failed equally often: they must not retry at the same
   * moment.
   */
  @Test
  void retriesOfHostsThatFailedTogetherAreSpread() {
    long[] waits =
        IntStream.range(0, 200)
            .mapToLong(host -> {
              Backoff backoff = new Backoff(FIRST, MOST, new Random(host));
              backoff.nextNs();
              backoff.nextNs();
              return backoff.nextNs();
            })
            .sorted()
            .toArray();
    assertTrue(waits[0] >= 3_000 && waits[199] <= 4_000, Arrays.toString(waits));
    for (int part = 0; part < 10; part++) {
      long from = 3_000 + 100 * part;
      long there = Arrays.stream(waits).filter(wait -> wait >= from && wait <= from + 100).count();
      assertTrue(there >= 5, there + " of 200 hosts in a tenth of the time");
    }
  }

  @Test
  void backoffRestartsAfterASession() {
    Backoff backoff = new Backoff(FIRST, MOST, new Random(1));
    for (int i = 0; i < 40; i++) {
      assertTrue(backoff.nextNs() <= MOST, "however often it failed");
    }
    backoff.reset();
    assertEquals(FIRST * 7 / 8, backoff.nextNs(), FIRST / 8);
  }
}
