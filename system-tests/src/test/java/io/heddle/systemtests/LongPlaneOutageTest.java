package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of long plane outages, each with a different cause, under a job that checks every byte. An
 * outage lasts some seconds, or ten minutes with {@code ./heddle test --whole}. Each plane returns
 * by itself.
 */
@EndsWithin(900)
@SystemTest
final class LongPlaneOutageTest {
  private static final int AWAY_SECONDS = Boolean.getBoolean("heddle.test.whole") ? 600 : 5;
  private static final int FIRST_WORD_SECONDS = 60;
  private static final int PLANES = 6;
  private static final String WITHOUT_CARRIER = "e1";
  private static final String FLAPPING = "e2";
  private static final String ONE_WAY = "e3";
  private static final String WITHOUT_ADDRESS = "e4";

  @TempDir private Path folder;

  @Test
  void planesReturnAfterAnyOutage() throws IOException, InterruptedException {
    BuildOutputs.plugin();
    Skip.unless(Lab.Kind.NAMESPACES);
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, PLANES, 9000));
        CheckedPair job = CheckedPair.start(lab, folder, Map.of())) {
      job.awaitAllCarry();
      setUp(job, 1, WITHOUT_CARRIER, false);
      job.on(1, "nft add table inet cut");
      job.on(1, "nft add chain inet cut in { type filter hook input priority 0 ; }");
      job.on(1, "nft add rule inet cut in iifname " + ONE_WAY + " drop");
      for (int rank = 0; rank < 2; rank++) {
        job.on(rank, "ip addr del " + address(rank, WITHOUT_ADDRESS) + " dev " + WITHOUT_ADDRESS);
      }
      long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(AWAY_SECONDS);
      for (boolean up = false; endNs - System.nanoTime() > 0; up = !up) {
        setUp(job, 0, FLAPPING, up);
        TimeUnit.SECONDS.sleep(1);
        job.assertAlive();
      }
      for (String plane : List.of(WITHOUT_CARRIER, FLAPPING, ONE_WAY, WITHOUT_ADDRESS)) {
        job.awaitWord("moving off plane if:" + plane);
      }
      if (AWAY_SECONDS > FIRST_WORD_SECONDS) {
        assertTrue(job.outputs().contains("has been away for"), job::outputs);
      }
      setUp(job, 0, FLAPPING, true);
      setUp(job, 1, WITHOUT_CARRIER, true);
      job.on(1, "nft delete table inet cut");
      for (int rank = 0; rank < 2; rank++) {
        addAddress(job, rank, WITHOUT_ADDRESS);
      }
      job.awaitAllCarry();
      job.endCleanly();
    }
  }

  /* Sets a port up or down. It loses its manually added addresses when it goes down. */
  private static void setUp(CheckedPair job, int rank, String name, boolean up)
      throws IOException, InterruptedException {
    job.on(rank, "ip link set " + name + (up ? " up" : " down"));
    if (up) {
      addAddress(job, rank, name);
    }
  }

  private static void addAddress(CheckedPair job, int rank, String name)
      throws IOException, InterruptedException {
    job.on(rank, "ip addr replace " + address(rank, name) + " dev " + name + " nodad");
  }

  private static String address(int rank, String name) {
    return LabPlan.address(rank, Integer.parseInt(name.substring(1)) - 1) + "/64";
  }
}
