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
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests of all-reduces whose threads call the plugin as NCCL's threads do, with every element
 * checked.
 */
@EndsWithin(240)
@SystemTest
final class ThreadedAllReduceTest {
  private static final int WRONG = 1;
  private static final long LIMIT_SECONDS = 100;

  /* Timeout that tolerates a rank that doesn't run for half a second. */
  private static final Map<String, String> PATIENT = Map.of("NCCL_IB_TIMEOUT", "18");

  @TempDir private Path folder;
  private final ObjectMapper json = new ObjectMapper();

  /** Output and exit code of a rank. */
  private record Result(String output, int exitCode) {}

  private List<Result> run(Path plugin, int ranks, String... more)
      throws IOException, InterruptedException {
    Path meeting = Files.createDirectory(folder.resolve("meeting"));
    List<HostProcess> processes = new ArrayList<>();
    List<Result> said = new ArrayList<>();
    try (Lab lab = Labs.create(Lab.Kind.LOOPBACK, new LabPlan(ranks, 4, 9000))) {
      try {
        for (int rank = 0; rank < ranks; rank++) {
          List<String> command = command(plugin, meeting, rank, ranks, more);
          Path log = folder.resolve("rank" + rank + ".log");
          processes.add(HostProcess.start(lab, rank, log, PATIENT, command));
        }
        for (HostProcess process : processes) {
          int code = process.exitCode(LIMIT_SECONDS);
          said.add(new Result(process.output(), code));
        }
      } finally {
        for (HostProcess process : processes) {
          process.close();
        }
      }
    }
    return said;
  }

  private static List<String> command(
      Path plugin, Path meeting, int rank, int ranks, String... more) {
    List<String> command = new ArrayList<>(List.of(BuildOutputs.amongThreads().toString()));
    command.addAll(List.of("--plugin", plugin.toString(), "--rendezvous", meeting.toString()));
    command.addAll(List.of("--rank", Integer.toString(rank), "--ranks", Integer.toString(ranks)));
    command.addAll(List.of("--no-warmup", "--timeout-seconds", "60", "--turns", "2"));
    command.addAll(List.of(more));
    return command;
  }

  private static Path plugin(String net) {
    return net.equals("tcp") ? BuildOutputs.tcpPlugin() : BuildOutputs.plugin();
  }

  /*
   * All-reduces of up to 64 KiB have a flag in each word, as NCCL's protocol LL has. Larger ones
   * use counters. The largest ones exceed all slots of a connection together, so they reuse slots.
   */
  @ParameterizedTest
  @CsvSource({
    "heddle, 2, ring",
    "heddle, 2, tree",
    "heddle, 3, ring",
    "heddle, 3, tree",
    "tcp, 2, ring",
    "tcp, 2, tree",
    "tcp, 3, ring",
    "tcp, 3, tree",
  })
  @WholeRunOnly(alwaysRunRows = {2, 3, 7})
  void everyElementIsRight(String net, int ranks, String algorithm)
      throws IOException, InterruptedException {
    List<Result> all =
        run(plugin(net), ranks, "--algorithm", algorithm, "--max-bytes=" + (16 << 20));
    for (Result said : all) {
      assertEquals(0, said.exitCode(), all::toString);
      int sizes = 0;
      for (String line : said.output().lines().filter(each -> each.startsWith("{")).toList()) {
        JsonNode event = json.readTree(line);
        assertEquals(0, event.path("wrong").asLong(-1), line);
        sizes += event.path("event").asText().equals("turns") ? 1 : 0;
      }
      assertEquals(22, sizes, "8 B to 16 MiB: " + said.output());
    }
  }

  /* Shows that the test above fails if an element is wrong. */
  @ParameterizedTest
  @CsvSource({"2, ring, 65536", "2, tree, 0", "3, ring, 0", "3, tree, 65536"})
  void aSpoiledElementIsFound(int ranks, String algorithm, int linesBytes)
      throws IOException, InterruptedException {
    List<Result> all =
        run(
            BuildOutputs.tcpPlugin(),
            ranks,
            "--spoil",
            "--max-bytes=64",
            "--algorithm",
            algorithm,
            "--lines-bytes=" + linesBytes);
    assertTrue(
        all.stream()
            .anyMatch(each -> each.exitCode() == WRONG && each.output().contains("\"wrong\":1")),
        all::toString);
  }

  @Test
  void theCommandComparesAllThree() throws IOException, InterruptedException {
    JsonNode report =
        HeddleRun.json(
            "perf",
            "among-threads",
            "--network=loopback",
            "--sizes=8,128K",
            "--rounds=2",
            "--turns=3",
            "--threads",
            "--json");
    Map<String, Integer> measured = new TreeMap<>();
    Map<String, Integer> compared = new TreeMap<>();
    Set<String> threads = new TreeSet<>();
    for (JsonNode series : report.get("series")) {
      double value = series.get("rounds").get(0).asDouble();
      switch (series.get("quantity").asText()) {
        case "" -> {
          assertEquals(2, series.get("rounds").size(), report::toString);
          assertTrue(value > 0, report::toString);
          measured.merge(series.get("step").asText(), 1, Integer::sum);
        }
        case ", our time ÷ TCP's" -> {
          compared.merge(series.get("step").asText(), 1, Integer::sum);
          assertTrue(value > 0, report::toString);
        }
        case ": ran" ->
            threads.add(series.get("step").asText() + ", " + series.get("contestant").asText());
        default -> {}
      }
    }
    assertEquals(Map.of("8B", 3, "128K", 3), measured);
    assertEquals(Map.of("8B", 2, "128K", 2), compared);
    for (String size : measured.keySet()) {
      for (String contestant : List.of("1 plane", "4 planes", "the rival")) {
        String of = size + ", " + contestant;
        assertTrue(
            threads.containsAll(List.of(of + ", progress", of + ", worker")), threads::toString);
      }
    }
  }
}
