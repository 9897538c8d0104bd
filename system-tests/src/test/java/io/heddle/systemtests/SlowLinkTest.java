package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests of the soft device on links that are much slower than the processors. The device uses the
 * link fully, retransmits nothing, and keeps the link's queue short. The queue could hold 400 ms of
 * packets.
 */
@EndsWithin(120)
@SystemTest
final class SlowLinkTest {
  private static final long LIMIT_SECONDS = 60;
  private static final double MEBI = 1 << 20;
  private static final int BURST_BYTES = 128 << 10;
  private static final Pattern RESULT =
      Pattern.compile("(?m)^ *(\\d+) +(\\d+) +([\\d.]+) +([\\d.]+) ");

  @TempDir private Path folder;

  @BeforeEach
  void assumeNamespaces() {
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  private static void shape(Lab lab, long bitsPerSecond) throws Exception {
    for (int rank = 0; rank < 2; rank++) {
      List<String> words =
          List.of(
              ("tc qdisc replace dev %s root tbf rate %sbit burst %s limit %s")
                  .formatted(
                      LabPlan.interfaceName(0),
                      bitsPerSecond,
                      BURST_BYTES,
                      bitsPerSecond / 20 + BURST_BYTES)
                  .split(" "));
      Process process = new ProcessBuilder(lab.command(rank, words)).inheritIO().start();
      assertEquals(0, process.waitFor());
    }
  }

  /* Returns the length of the link's queue, as the milliseconds in which the link sends it. */
  private static double queueMs(Lab lab, long bitsPerSecond) throws IOException {
    List<String> words =
        List.of("tc", "-s", "-j", "qdisc", "show", "dev", LabPlan.interfaceName(0));
    Process process = new ProcessBuilder(lab.command(0, words)).start();
    JsonNode shown = new ObjectMapper().readTree(process.getInputStream());
    return shown.path(0).path("backlog").asLong(-1) * 8e3 / bitsPerSecond;
  }

  private HostProcess start(Lab lab, int rank, String faults, String... words) throws Exception {
    List<String> all = new ArrayList<>(List.of("perf"));
    all.addAll(List.of(words));
    return HostProcess.start(
        lab,
        rank,
        folder.resolve("rank" + rank + ".log"),
        Map.of("HEDDLE_PROVIDER", "soft", "HEDDLE_SOFT_FAULTS", faults),
        HeddleRun.command(all.toArray(String[]::new)));
  }

  @ParameterizedTest
  @CsvSource({
    "100, write_bw, 256, '', 1.3",
    "100, send_bw, 256, '', 1.3",
    "100, read_bw, 256, '', 1.3",
    "1000, write_bw, 2000, '', 1.3",
    "100, write_bw, 256, 'loss=0.01', 1.5",
    "1000, write_bw, 2000, 'loss=0.01', 2",
  })
  @WholeRunOnly(alwaysRunRows = {1, 5})
  void carriesEverythingOnceAndKeepsTheQueueShort(
      long megabits, String test, int messages, String faults, double slower) throws Exception {
    long rate = megabits * 1_000_000;
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 1, 9000))) {
      shape(lab, rate);
      String count = Integer.toString(messages);
      try (HostProcess server = start(lab, 1, faults, test, "-n", count, "-u", "20")) {
        server.awaitOutput("Waiting for client to connect", LIMIT_SECONDS);
        long before = lab.sentBytesByPlane().getFirst();
        List<Double> queues = new ArrayList<>();
        try (HostProcess client =
            start(lab, 0, faults, test, "-n", count, "-u", "20", LabPlan.address(1, 0))) {
          while (client.isAlive()) {
            queues.add(queueMs(lab, rate));
            Thread.sleep(20);
          }
          assertEquals(0, client.exitCode(LIMIT_SECONDS), client::outputOrWhyNot);
          long sent = lab.sentBytesByPlane().getFirst() - before;
          check(client.output(), megabits, messages, sent, queues, slower);
        }
      }
    }
  }

  private static void check(
      String output, long megabits, int messages, long sent, List<Double> queues, double slower) {
    Matcher result = RESULT.matcher(output);
    assertTrue(result.find(), output);
    double payload = Double.parseDouble(result.group(1)) * messages;
    double bitsPerSecond = Double.parseDouble(result.group(4)) * MEBI * 8;
    Collections.sort(queues);
    double usual = queues.get(queues.size() * 9 / 10);
    String seen =
        String.format(
            Locale.ROOT,
            "%d Mbit/s: %.0f bytes of payload, %d sent, %.1f Mbit/s of payload, queue %.1f ms (nine"
                + " of ten)",
            megabits,
            payload,
            sent,
            bitsPerSecond / 1e6,
            usual);
    System.out.println(seen);
    assertTrue(sent <= 1.1 * payload, seen);
    assertTrue(bitsPerSecond * slower >= megabits * 1e6, seen);
    assertTrue(usual < 60, seen);
  }
}
