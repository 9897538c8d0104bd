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
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Test that two soft devices use the full MTU of their links, also after one link's MTU becomes
 * smaller.
 */
@EndsWithin(180)
@SystemTest
final class JumboFramesTest {
  private static final long LIMIT_SECONDS = 120;
  private static final int ENOUGH_BYTES = 64 << 20;

  @TempDir private Path folder;

  @BeforeEach
  void assumeNamespaces() {
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  /* Traffic that left a host's interface. Each packet of a segmented send counts. */
  private record Sent(long bytes, long packets) {
    static Sent by(Lab lab) throws IOException {
      List<String> words =
          List.of("tc", "-s", "-j", "qdisc", "show", "dev", LabPlan.interfaceName(0));
      Process process = new ProcessBuilder(lab.command(0, words)).start();
      JsonNode shown = new ObjectMapper().readTree(process.getInputStream()).path(0);
      return new Sent(shown.path("bytes").asLong(), shown.path("packets").asLong());
    }

    double meanSince(Sent before) {
      return (bytes - before.bytes) / (double) (packets - before.packets);
    }
  }

  private static void run(Lab lab, int rank, String words) throws Exception {
    List<String> command = lab.command(rank, List.of(words.split(" ")));
    assertEquals(0, new ProcessBuilder(command).inheritIO().start().waitFor(), words);
  }

  private static void count(Lab lab) throws Exception {
    run(lab, 0, "tc qdisc replace dev " + LabPlan.interfaceName(0) + " root pfifo limit 10000");
  }

  private static void setMtu(Lab lab, int rank, int bytes) throws Exception {
    run(lab, rank, "ip link set dev " + LabPlan.interfaceName(0) + " mtu " + bytes);
  }

  private HostProcess start(Lab lab, int rank, int messages, String... peer) throws Exception {
    String[] words = {
      "perf", "write_bw", "-s", "1048576", "-n", Integer.toString(messages), "-u", "20"
    };
    return HostProcess.start(
        lab,
        rank,
        folder.resolve("rank" + rank + ".log"),
        Map.of("HEDDLE_PROVIDER", "soft"),
        HeddleRun.command(
            java.util.stream.Stream.of(words, peer)
                .flatMap(java.util.Arrays::stream)
                .toArray(String[]::new)));
  }

  @ParameterizedTest
  @CsvSource({"9000, 6000, 9014", "4500, 3500, 4514", "1500, 1000, 1132"})
  @WholeRunOnly(alwaysRunRows = 1)
  void packetSizeIsThatOfSmallerLink(int peersMtu, int least, int most) throws Exception {
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 1, 9000))) {
      count(lab);
      setMtu(lab, 1, peersMtu);
      try (HostProcess server = start(lab, 1, 200)) {
        server.awaitOutput("Waiting for client to connect", LIMIT_SECONDS);
        Sent before = Sent.by(lab);
        try (HostProcess client = start(lab, 0, 200, LabPlan.address(1, 0))) {
          assertEquals(0, client.exitCode(LIMIT_SECONDS), client::outputOrWhyNot);
          double mean = Sent.by(lab).meanSince(before);
          assertTrue(mean >= least && mean <= most, "frames of " + mean + " bytes");
        }
      }
    }
  }

  @Test
  void packetsShrinkWithLinksMtu() throws Exception {
    int messages = 2000;
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 1, 9000))) {
      count(lab);
      try (HostProcess server = start(lab, 1, messages)) {
        server.awaitOutput("Waiting for client to connect", LIMIT_SECONDS);
        try (HostProcess client = start(lab, 0, messages, LabPlan.address(1, 0))) {
          Sent first = Sent.by(lab);
          while (client.isAlive() && Sent.by(lab).bytes() - first.bytes() < ENOUGH_BYTES) {
            Thread.sleep(1);
          }
          double wide = Sent.by(lab).meanSince(first);
          setMtu(lab, 0, 4500);
          Sent between = Sent.by(lab);
          assertEquals(0, client.exitCode(LIMIT_SECONDS), client::outputOrWhyNot);
          Sent last = Sent.by(lab);
          String seen =
              String.format(
                  Locale.ROOT,
                  "frames of %.0f bytes, then %.0f in %d MiB",
                  wide,
                  last.meanSince(between),
                  last.bytes() - between.bytes() >> 20);
          System.out.println(seen);
          assertTrue(wide > 6000, seen);
          assertTrue(last.bytes() - between.bytes() > ENOUGH_BYTES, seen);
          assertTrue(last.meanSince(between) <= 4514, seen);
        }
      }
    }
  }
}
