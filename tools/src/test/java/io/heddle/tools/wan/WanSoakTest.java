package io.heddle.tools.wan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.kit.Cleanup;
import io.heddle.gateway.dataplane.DataPlane;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of a short soak and of the soak's verdict. */
@EndsWithin(600)
@SystemTest
final class WanSoakTest {
  @TempDir private Path folder;

  /*
   * Returns a seed for which the first phase of the soak has this fault and undoes it within a
   * second.
   */
  private static long seedOf(WanSoakPlan.Fault fault) {
    long seed = 0;
    while (true) {
      WanSoakPlan plan = WanSoakPlan.next(new Random(seed), WanDemo.canReflect());
      if (plan.fault() == fault && plan.healMs() < 1_000 && plan.load().size() > 3) {
        return seed;
      }
      seed++;
    }
  }

  @Test
  @WholeRunOnly
  void gatewaysDeathLosesNoPacketAndLeavesNoRule() throws Exception {
    Requirements.namespaces();
    Requirements.skipWhere(DataPlane.refusal().orElse(""));
    Requirements.skipWhere(
        Files.isExecutable(Path.of("/usr/bin/openssl")) ? "" : "openssl isn't installed");
    WanDemo.TimeLimits patience =
        new WanDemo.TimeLimits(
            seconds -> io.heddle.platform.testing.Deadline.ofSeconds(seconds)::isOver, false);
    try (Cleanup cleanup = new Cleanup()) {
      WanSoakReport report =
          WanSoak.run(
              folder,
              new WanSoak.Setting(seedOf(WanSoakPlan.Fault.GATEWAY_KILLED), 0, 1, 2),
              patience,
              System.out::println,
              cleanup);
      System.out.println(report);
      assertTrue(report.passed(), report::toString);
      assertEquals(1, report.phases());
      assertEquals(0, report.lostPackets());
      assertTrue(report.sentPackets() > 0, report::toString);
    }
  }

  @Test
  void sameSeedGivesTheSamePhases() {
    Random first = new Random(7);
    Random again = new Random(7);
    for (int i = 0; i < 50; i++) {
      assertEquals(WanSoakPlan.next(first, true), WanSoakPlan.next(again, true));
    }
  }

  @Test
  void flowMovedForthAndBackCountsAsFlap() throws Exception {
    Path audit = folder.resolve("audit.jsonl");
    Files.writeString(
        audit,
        """
        {"time":"2026-01-01T00:00:10Z","choices":[{"action":"move","decision":{"flow":{"queue_pair":1}}}]}
        {"time":"2026-01-01T00:00:12Z","choices":[{"action":"move","decision":{"flow":{"queue_pair":2}}}]}
        {"time":"2026-01-01T00:00:20Z","choices":[{"action":"withdraw","decision":{"flow":{"queue_pair":1}}}]}
        """);
    WanDecisions decisions = new WanDecisions(audit);
    Instant begin = Instant.parse("2026-01-01T00:00:00Z");
    assertEquals(2, decisions.moves());
    assertEquals(1, decisions.withdrawals());
    assertEquals(Set.of("{\"queue_pair\":1}"), decisions.flaps(begin, begin.plusSeconds(30)));
    assertEquals(Set.of(), decisions.flaps(begin, begin.plusSeconds(15)));
    assertEquals(0, new WanDecisions(folder.resolve("none.jsonl")).moves());
  }
}
