package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Shell;
import io.heddle.platform.testing.Deadline;
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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of a path that loses segmented sends and carries single packets, as with broken segmentation
 * offload. The device warns once and sends single packets. It sends segment trains again when the
 * path is repaired.
 */
@EndsWithin(180)
@SystemTest
final class LongDatagramsTest {
  private static final String WARNING = "several packets in one datagram don't pass";
  private static final String RULES =
      """
      table inet long {
        chain in {
          type filter hook prerouting priority 0
          iif lo accept
          meta l4proto udp meta length > 9100 drop
        }
      }
      """;
  /*
   * Limits of the mean length of received datagrams, in bytes. Most packets of trains arrive in
   * datagrams of 61,000 bytes; a single packet has 9,000 at most.
   */
  private static final long MOST_SINGLE = 9100;
  private static final long LEAST_MIXED = 20_000;
  /*
   * Bytes that the device must carry with single packets. A device that kept retransmitting trains
   * carried only 1.8 MB/s.
   */
  private static final long ENOUGH_BYTES = 60_000_000;

  @TempDir private Path folder;

  @BeforeEach
  void assumeFilter() throws InterruptedException {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    Skip.unless(Lab.Kind.NAMESPACES);
    try {
      assertEquals(0, new ProcessBuilder("nft", "--version").start().waitFor());
    } catch (IOException absent) {
      Skip.because("no nft here: " + absent.getMessage());
    }
  }

  private HostProcess rank(Lab lab, int rank) throws IOException {
    return HostProcess.start(
        lab,
        rank,
        folder.resolve("rank" + rank + ".log"),
        Map.of("HEDDLE_PROVIDER", "soft"),
        HostProcess.endlessAllReduce(folder, rank, 2, 4 << 20));
  }

  /* Returns the bytes and the datagrams that a host has received, as /proc/net/dev counts them. */
  private static long[] received(Lab lab) {
    String text = Shell.run(lab.command(0, List.of("cat", "/proc/net/dev")), "");
    String line =
        text.lines().filter(each -> each.strip().startsWith("e1:")).findFirst().orElseThrow();
    String[] words = line.strip().split("[: ]+");
    return new long[] {Long.parseLong(words[1]), Long.parseLong(words[2])};
  }

  private static long averageBytes(Lab lab) throws InterruptedException {
    long[] before = received(lab);
    Thread.sleep(500);
    long[] after = received(lab);
    return (after[0] - before[0]) / Math.max(1, after[1] - before[1]);
  }

  private static long count(String output) {
    return output.lines().filter(line -> line.contains(WARNING)).count();
  }

  @Test
  void sendsPacketsSinglyUntilTrainsPassAgain() throws Exception {
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 1, 9000))) {
      for (int host = 0; host < 2; host++) {
        Shell.run(lab.command(host, List.of("nft", "-f", "-")), RULES);
      }
      try (HostProcess first = rank(lab, 0);
          HostProcess second = rank(lab, 1)) {
        Deadline deadline = Deadline.ofSeconds(40);
        while (count(first.output()) == 0 || count(second.output()) == 0) {
          assertTrue(first.isAlive() && second.isAlive(), first::outputOrWhyNot);
          assertFalse(deadline.isOver(), first::outputOrWhyNot);
          Thread.sleep(50);
        }
        deadline = Deadline.ofSeconds(40);
        long enough = received(lab)[0] + ENOUGH_BYTES;
        while (received(lab)[0] < enough) {
          assertFalse(deadline.isOver(), first::outputOrWhyNot);
          Thread.sleep(50);
        }
        assertTrue(averageBytes(lab) <= MOST_SINGLE, "trains are sent on");
        for (int host = 0; host < 2; host++) {
          Shell.run(lab.command(host, List.of("nft", "delete", "table", "inet", "long")), "");
        }
        deadline = Deadline.ofSeconds(60);
        while (averageBytes(lab) < LEAST_MIXED) {
          assertFalse(deadline.isOver(), first::outputOrWhyNot);
        }
        for (HostProcess each : List.of(first, second)) {
          assertTrue(each.isAlive(), each::outputOrWhyNot);
          assertEquals(1, count(each.output()), each::outputOrWhyNot);
          assertFalse(each.output().contains("moving off"), each::outputOrWhyNot);
        }
      }
    }
  }
}
