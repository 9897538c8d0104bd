package io.heddle.perftest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.perftest.IdlePolicy.Rest;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which ends sleep while they wait, and how many empty polls precede the sleep. */
final class IdlePolicyTest {
  private static final int ROUNDS = 2048;

  private static IdlePolicy idlePolicy(String command) {
    Settings settings = TwoEnds.command(command).settings();
    return IdlePolicy.of(settings, settings.traffic().sizeBytes());
  }

  private static void assertKeepsPolling(IdlePolicy idlePolicy, int rounds) {
    for (int i = 0; i < rounds; i++) {
      assertEquals(Rest.NONE, idlePolicy.after(0), "round " + i);
    }
  }

  /* At 400 Gb/s, 5,000,000 bytes arrive in 100 us, the longest duration of a nap of 50 us. */
  @ParameterizedTest
  @CsvSource({
    "send_bw -r 512 -s 65536, NAP",
    "send_bw -r 500 -s 10000, NAP",
    "send_bw -r 500 -s 9999, YIELD",
    "send_bw -r 512 -s 64, YIELD",
    "send_bw -r 512 -s 65536 -b, YIELD",
    "send_bw -r 512 -s 65536 127.0.0.1, YIELD",
    "write_bw -s 65536 127.0.0.1, YIELD",
  })
  void onlyServersWithEnoughReceivesNap(String command, Rest rest) {
    IdlePolicy idlePolicy = idlePolicy(command);
    assertKeepsPolling(idlePolicy, ROUNDS);
    assertEquals(rest, idlePolicy.after(0));
  }

  @Test
  void workAndRestsResetTheRoundCount() {
    IdlePolicy idlePolicy = idlePolicy("send_bw -r 512 -s 65536");
    assertKeepsPolling(idlePolicy, ROUNDS);
    assertEquals(Rest.NONE, idlePolicy.after(1));
    for (int naps = 0; naps < 3; naps++) {
      assertKeepsPolling(idlePolicy, ROUNDS);
      assertEquals(Rest.NAP, idlePolicy.after(0));
    }
  }

  @ParameterizedTest
  @CsvSource({"send_bw -r 512 -s 65536, 3", "send_bw -r 512 -s 65536 127.0.0.1, 0"})
  void loopSleepsAsOftenAsDecided(String command, int naps) {
    RunGuard guard = RunGuard.within(Long.MAX_VALUE, idlePolicy(command));
    long before = sleeps();
    for (int i = 0; i < 3 * (ROUNDS + 1); i++) {
      assertTrue(guard.mayContinue(0));
    }
    assertEquals(naps, sleeps() - before);
  }

  private static long sleeps() {
    long thread = Thread.currentThread().threadId();
    return ManagementFactory.getThreadMXBean().getThreadInfo(thread).getWaitedCount();
  }
}
