package io.heddle.cli.stat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.cli.kit.Terminal;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class StatCommandTest {
  private static final String ME = Long.toString(ProcessHandle.current().pid());

  @TempDir Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private JobStats job;

  @BeforeEach
  void begin() {
    job = new JobStats(folder);
  }

  @AfterEach
  void end() {
    job.close();
  }

  private int execute(Object command, String... arguments) {
    CommandLine line = new CommandLine(command);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    line.setExecutionExceptionHandler((failed, at, parsed) -> {
      err.append(failed.getMessage());
      return 1;
    });
    return line.execute(arguments);
  }

  private List<FlowRate> rates(FlowRates.Order order) {
    return new FlowRates(order).update(found().processes(), 1);
  }

  private StatsFolders.Found found() {
    return new StatsFolders(folder).read(null);
  }

  @Test
  void jsonHasEveryFlowWithPercentiles() throws Exception {
    assertEquals(0, execute(new StatCommand(), "--json", "--stats", folder.toString()));
    JsonNode process = new ObjectMapper().readTree(out.toString()).path("processes").path(0);
    assertEquals(ME, process.path("process").asText());
    assertTrue(process.path("alive").asBoolean());
    assertEquals(1, process.path("distinct_errors").asInt());
    assertEquals(7, process.path("device_counters").path("soft0/packets_resent").asInt());
    JsonNode first = process.path("flows").path(0);
    assertEquals("colour:1", first.path("plane").asText());
    assertEquals("send", first.path("direction").asText());
    assertEquals(60_005_000, first.path("bytes").asLong());
    assertEquals(5_000, first.path("in_flight_bytes").asLong());
    assertEquals("path bandwidth", first.path("weight_by").asText());
    long p99 = first.path("p99_ns").asLong();
    assertTrue(p99 >= 20_000 && p99 < 23_000, "p99 " + p99);
    JsonNode received = process.path("flows").path(2);
    assertEquals("receive", received.path("direction").asText());
    assertEquals(1, received.path("chunks_ahead_of_gap").path(4).asInt(), "8 to 15 ahead");
  }

  @Test
  void oneSidedOperationsAreCountedBesideMessages() throws Exception {
    job.writeAndReadOneSided();
    assertEquals(0, execute(new StatCommand(), "--json", "--stats", folder.toString()));
    JsonNode process = new ObjectMapper().readTree(out.toString()).path("processes").path(0);
    JsonNode flows = process.path("flows");
    JsonNode first = flows.path(0);
    assertEquals(3, first.path("puts").asInt(), first.toString());
    assertEquals(2, first.path("signals").asInt(), first.toString());
    assertEquals(1, first.path("gets").asInt(), first.toString());
    assertEquals(1, first.path("flushes").asInt(), first.toString());
    assertEquals(9_000, flows.path(1).path("get_bytes").asLong(), flows.toString());
    assertEquals(0, execute(new StatCommand(), "--stats", folder.toString()));
    assertTrue(out.toString().contains("signals"), out.toString());
  }

  @Test
  void tableNamesProcessPeerPlanesAndDevices() {
    assertEquals(0, execute(new StatCommand(), "--pid", ME, "--stats", folder.toString()));
    for (String part :
        List.of(
            "process " + ME,
            JobStats.PEER,
            "colour:2",
            "57.2M",
            "20.5 us",
            "soft0/dropped_bad_checksum 2",
            "1 distinct errors")) {
      assertTrue(out.toString().contains(part), part + " in\n" + out);
    }
  }

  @Test
  void processWithoutStatisticsIsReportedWithTheFolder() {
    assertEquals(1, execute(new StatCommand(), "--pid", "1", "--stats", folder.toString()));
    assertTrue(
        err.toString().contains("process 1 has left no statistics in " + folder), err.toString());
  }

  @Test
  void fileOfAnotherReleaseIsReported() throws Exception {
    Files.write(folder.resolve("1.stats"), new byte[100]);
    execute(new StatCommand(), "--stats", folder.toString());
    assertTrue(
        out.toString().contains("1.stats is not a statistics file of this version"),
        out.toString());
  }

  @Test
  void everyLineFitsTheTerminal() {
    for (int width : new int[] {40, 61, 80, 100, 132, 200, 400}) {
      List<String> lines =
          LiveView.lines(found(), rates(FlowRates.Order.RATE), new Terminal(width, 50), Map.of());
      int errorLines = width < 80 ? 2 : 1;
      assertEquals(2 + errorLines + 4, lines.size(), lines.toString());
      for (String line : lines) {
        assertTrue(line.length() <= width, width + ": " + line.length() + " in " + line);
      }
      String header = lines.get(1 + errorLines);
      assertTrue(header.contains("Gbit/s") && header.contains("plane"), header);
      assertFalse(lines.get(errorLines).endsWith("…"), "the cause stands at the end: " + lines);
      assertTrue(lines.getLast().contains("pid 4711 "), "peers differ at their end: " + lines);
    }
    String wide =
        LiveView.lines(found(), rates(FlowRates.Order.RATE), new Terminal(220, 50), Map.of())
            .get(2);
    for (String title : List.of("share", "by", "p99.9", "ahead", "resent/s", "failover", "moved")) {
      assertTrue(wide.contains(title), title + " in " + wide);
    }
  }

  @Test
  void failedPlaneIsListedFirstInRed() {
    Map<String, String> colours = Map.of("TERM", "xterm");
    job.sending.getLast().setWeight(0, "failed over");
    List<String> lines =
        LiveView.lines(found(), rates(FlowRates.Order.RATE), new Terminal(80, 5), colours);
    String first = lines.get(lines.size() - 2);
    assertTrue(first.contains("colour:2") && first.contains("\u001b[31m"), lines.toString());
    job.sending.getLast().setWeight(1, "path bandwidth");
    lines = LiveView.lines(found(), rates(FlowRates.Order.RATE), new Terminal(80, 50), colours);
    assertFalse(String.join("", lines.subList(3, lines.size())).contains("\u001b[31m"));
  }

  @Test
  void shortTerminalShowsTheNumberOfHiddenFlows() {
    List<String> lines =
        LiveView.lines(found(), rates(FlowRates.Order.RATE), new Terminal(80, 5), Map.of());
    assertEquals(5, lines.size());
    assertTrue(lines.getLast().contains("and 3 more flows"), lines.getLast());
  }

  @Test
  void coloursNeedATerminalWithoutNoColor() {
    Map<String, String> colours = Map.of("TERM", "xterm");
    List<FlowRate> rates = rates(FlowRates.Order.RATE);
    Terminal terminal = new Terminal(100, 50);
    assertTrue(LiveView.lines(found(), rates, terminal, colours).getFirst().contains("\u001b[1m"));
    for (Map<String, String> without :
        List.of(Map.of("TERM", "xterm", "NO_COLOR", "1"), Map.of("TERM", "dumb"))) {
      LiveView.lines(found(), rates, terminal, without)
          .forEach(line -> assertFalse(line.contains("\u001b"), line));
    }
  }

  @Test
  void ratesAreDifferencesBetweenTwoReadings() {
    FlowRates readings = new FlowRates(FlowRates.Order.RATE);
    readings.update(found().processes(), 0);
    for (int i = 0; i < 3; i++) {
      job.send(1, 25_000_000, 1_500_000);
    }
    job.send(0, 25_000_000, 9_000);
    job.sending.getLast().resent(4);
    List<FlowRate> rates = readings.update(found().processes(), 2_000_000_000L);
    FlowRate first = rates.getFirst();
    assertEquals("colour:2", first.now().key().plane(), "sorted by rate");
    assertEquals(0.3, first.gigabitsPerSecond(), 1e-9);
    assertEquals(0.75, first.share(), 1e-9);
    assertEquals(2, first.resentPerSecond(), 1e-9);
    assertEquals(3, first.latencies().total(), "of the interval only");
    assertEquals(0.1, rates.get(1).gigabitsPerSecond(), 1e-9);
  }

  @Test
  void liveViewWithoutATerminalPrintsFrames() {
    assertEquals(
        0,
        execute(
            new StatCommand(),
            "--watch",
            "--interval",
            "0.1",
            "--frames",
            "2",
            "--sort",
            "plane",
            "--stats",
            folder.toString()));
    assertEquals(2, out.toString().split("1 processes", -1).length - 1, out.toString());
    assertFalse(out.toString().contains("\u001b"), "no escape sequences into a file");
  }

  @Test
  void contradictingOptionsAreRefused() {
    assertEquals(2, execute(new StatCommand(), "--watch", "--json"));
    assertEquals(2, execute(new StatCommand(), "--watch", "--interval", "0"));
    assertTrue(err.toString().contains("--interval 0.0 is not in 0.1 to 3600"), err.toString());
    assertEquals(2, execute(new StatCommand(), "--watch", "--frames", "-1"));
  }

  @Test
  void errorsAreShownOnceWithTheirCount() throws Exception {
    assertEquals(1, execute(new ErrorsCommand(), "--stats", folder.toString()));
    assertTrue(out.toString().contains("2x  "), out.toString());
    assertTrue(out.toString().contains("plane colour:2 lost its carrier 3 times"), out.toString());
    assertFalse(out.toString().contains("4 times"), out.toString());
    out.getBuffer().setLength(0);
    assertEquals(1, execute(new ErrorsCommand(), "--json", "--stats", folder.toString()));
    assertEquals(2, new ObjectMapper().readTree(out.toString()).at("/errors/0/count").asInt());
  }

  @Test
  void unreadableErrorsAreNotReportedAsNone() throws Exception {
    Files.writeString(folder.resolve("7.8.stats"), "no statistics");
    execute(new ErrorsCommand(), "--stats", folder.toString());
    assertTrue(out.toString().startsWith("heddle: "), out.toString());
    assertTrue(out.toString().contains("7.8.stats"), out.toString());
    assertEquals(1, execute(new ErrorsCommand(), "--pid", "7", "--stats", folder.toString()));
    assertTrue(err.toString().startsWith("process 7 has left no statistics"), err.toString());
    err.getBuffer().setLength(0);
    Path nowhere = folder.resolve("nowhere");
    assertEquals(1, execute(new ErrorsCommand(), "--stats", nowhere.toString()));
    assertEquals("statistics can't be read from " + nowhere + ": it doesn't exist", err.toString());
  }
}
