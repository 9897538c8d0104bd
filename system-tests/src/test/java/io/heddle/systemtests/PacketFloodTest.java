package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.testing.Checkout;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.job.DeviceCounters;
import io.heddle.tools.lab.FloodPacket;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.PacketFlood;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of malformed packets of every kind, which a host outside the job sends to a rank's port
 * 4791. Each is counted under the name of its kind, and the job isn't disturbed. {@code heddle perf
 * flood} measures the cost of a flood.
 */
@EndsWithin(180)
@SystemTest
final class PacketFloodTest {
  private static final int EACH = 100;
  private static final String UNKNOWN_QUEUE_PAIR = FloodPacket.UNKNOWN_QUEUE_PAIR.counter();
  private static final Path ODD_FRAMES =
      Checkout.path("system-tests/src/test/resources/io/heddle/systemtests/odd-frames.py");

  @TempDir private Path folder;

  private HostProcess rank(Lab lab, int rank) throws IOException {
    List<String> command =
        HostProcess.allReduce(
            folder,
            rank,
            2,
            "--min-bytes",
            "1048576",
            "--max-bytes",
            "1048576",
            "--until",
            end().toString(),
            "--timeout-seconds",
            "60");
    return HostProcess.start(
        lab,
        rank,
        folder.resolve("rank" + rank + ".log"),
        /* The traffic class has ECN set, so that the device checks packets for congestion marks. */
        Map.of("HEDDLE_STATS_DIR", stats(rank).toString(), "NCCL_IB_TC", "2"),
        command);
  }

  private Path stats(int rank) throws IOException {
    return Files.createDirectories(folder.resolve("stats" + rank));
  }

  private Path end() {
    return folder.resolve("end");
  }

  /* Waits until each of the first rank's device counters has grown as expected. */
  private void await(Map<String, Long> before, Map<String, Long> expected, HostProcess rank)
      throws IOException, InterruptedException {
    Deadline deadline = Deadline.ofSeconds(60);
    Map<String, Long> counted = since(before, expected);
    while (counted.entrySet().stream()
            .anyMatch(each -> each.getValue() < expectedCount(expected, each))
        && !deadline.isOver()
        && rank.isAlive()) {
      TimeUnit.MILLISECONDS.sleep(20);
      counted = since(before, expected);
    }
    assertEquals(expected, counted, rank.output());
  }

  private static long expectedCount(Map<String, Long> expected, Map.Entry<String, Long> counted) {
    return expected.getOrDefault(counted.getKey(), 0L);
  }

  private Map<String, Long> since(Map<String, Long> before, Map<String, Long> names)
      throws IOException {
    Map<String, Long> now = DeviceCounters.read(stats(0));
    Map<String, Long> since = new TreeMap<>();
    for (String name : names.keySet()) {
      since.put(name, now.getOrDefault(name, 0L) - before.getOrDefault(name, 0L));
    }
    return since;
  }

  @Test
  void countsEachKindByNameAndKeepsJobCorrect() throws Exception {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    Skip.unless(Lab.Kind.NAMESPACES);
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(3, 2, 9000));
        HostProcess first = rank(lab, 0);
        HostProcess second = rank(lab, 1);
        PacketFlood flood = new PacketFlood(lab, 2, 0)) {
      first.awaitOutput("\"event\":\"start\"", 60);
      second.awaitOutput("\"event\":\"start\"", 60);
      Map<String, Long> before = awaitTraffic(first);
      Map<String, Long> expected = new TreeMap<>();
      for (FloodPacket kind : FloodPacket.values()) {
        flood.send(kind, EACH);
        expected.merge(kind.counter(), (long) EACH, Long::sum);
        if (kind.isForUnknownQueuePair()) {
          expected.merge(UNKNOWN_QUEUE_PAIR, (long) EACH, Long::sum);
        }
        if (kind.ordinal() % 4 == 0) {
          /*
           * Waits after every fourth kind of packet, so that the socket's queue doesn't overflow.
           */
          await(before, expected, first);
        }
      }
      await(before, expected, first);
      sendOddFrames(lab);
      /*
       * Only one of the three kinds of odd frames is counted: a frame with a priority tag, as if it
       * were untagged. The kernel drops the other two.
       */
      expected.merge(UNKNOWN_QUEUE_PAIR, (long) EACH, Long::sum);
      await(before, expected, first);
      assertTrue(second.isAlive(), second.output());
      assertShown(expected);
      Files.writeString(end(), "");
      for (HostProcess rank : List.of(first, second)) {
        assertEquals(0, rank.exitCode(120), rank::outputOrWhyNot);
        assertTrue(rank.output().contains("\"wrong\":0}"), rank.output());
        assertFalse(rank.output().contains("WARN"), rank.output());
      }
    }
  }

  @Test
  void theMeasurementFloodsTheJobWithEveryKind() throws Exception {
    BuildOutputs.plugin();
    Skip.unless(Lab.Kind.NAMESPACES);
    JsonNode report =
        HeddleRun.json(
            "perf",
            "flood",
            "--rounds",
            "1",
            "--milliseconds",
            "300",
            "--network",
            "namespaces",
            "--json");
    Map<String, Double> counted = new LinkedHashMap<>();
    Set<String> compared = new TreeSet<>();
    for (JsonNode figure : report.path("figures")) {
      String name = figure.path("name").asText();
      double median = figure.path("median").asDouble();
      if (name.equals("bandwidth with ÷ without")) {
        compared.add(name);
        assertTrue(median > 0, report.toPrettyString());
      } else if (name.equals("bandwidth with, packets sent")) {
        compared.add(name);
        assertTrue(median > EACH, report.toPrettyString());
      } else if (name.startsWith("counted ")) {
        assertTrue(median > 0, report.toPrettyString());
        counted.put(name.substring("counted ".length()), median);
      }
    }
    assertEquals(
        Set.of("bandwidth with ÷ without", "bandwidth with, packets sent"),
        compared,
        report.toPrettyString());
    List<String> kinds =
        Arrays.stream(FloodPacket.values()).map(FloodPacket::counter).distinct().toList();
    assertEquals(kinds, List.copyOf(counted.keySet()), report.toPrettyString());
  }

  /* Waits until a rank's device has sent data, and returns its counters. */
  private Map<String, Long> awaitTraffic(HostProcess rank)
      throws IOException, InterruptedException {
    Deadline deadline = Deadline.ofSeconds(60);
    Map<String, Long> counters = DeviceCounters.read(stats(0));
    while (counters.getOrDefault("packets_sent", 0L) < 10_000) {
      assertTrue(!deadline.isOver() && rank.isAlive(), rank.output());
      TimeUnit.MILLISECONDS.sleep(20);
      counters = DeviceCounters.read(stats(0));
    }
    return counters;
  }

  private static void sendOddFrames(Lab lab) throws IOException, InterruptedException {
    String output =
        BareRoot.run(
            lab.command(
                2,
                List.of(
                    "python3",
                    ODD_FRAMES.toString(),
                    LabPlan.interfaceName(0),
                    LabPlan.address(2, 0),
                    LabPlan.address(0, 0),
                    LabPlan.macAddress(0, 0),
                    Integer.toString(EACH))));
    assertTrue(output.contains("sent " + EACH), output);
  }

  private void assertShown(Map<String, Long> expected) throws IOException, InterruptedException {
    JsonNode counters =
        HeddleRun.json("stat", "--json", "--stats", stats(0).toString())
            .path("processes")
            .path(0)
            .path("device_counters");
    for (String name : expected.keySet()) {
      assertTrue(counters.path("soft0/" + name).asLong() >= EACH, counters.toPrettyString());
    }
  }
}
