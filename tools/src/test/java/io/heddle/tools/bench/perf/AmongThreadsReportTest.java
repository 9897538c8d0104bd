package io.heddle.tools.bench.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Test of {@link AmongThreadsReport} and of the driver's events, without a measurement. */
final class AmongThreadsReportTest {
  private static final AmongThreadsReport.Accounts NO_ACCOUNTS = (contestant, bytes) -> List.of();

  @Test
  void linesOfTheDriverAreRead() {
    assertEquals(
        new AmongThreadsEvent.Ready("Heddle"),
        AmongThreadsEvent.parse("{\"event\":\"ready\",\"rank\":1,\"net\":\"Heddle\"}"));
    assertEquals(
        new AmongThreadsEvent.Turn(8, 3, List.of(1.5, 20.25), List.of()),
        AmongThreadsEvent.parse(
            "{\"event\":\"turns\",\"rank\":0,\"bytes\":8,\"wrong\":3,\"sleeps\":0,\"yields\":9,"
                + "\"times_us\":[1.50,20.25]}"));
    assertEquals(
        new AmongThreadsEvent.Turn(
            8, 0, List.of(1.5), List.of(new ThreadAccount("progress", 12.5, 3.0, 1, 4))),
        AmongThreadsEvent.parse(
            "{\"event\":\"turns\",\"rank\":0,\"bytes\":8,\"wrong\":0,\"times_us\":[1.50],"
                + "\"threads\":[{\"name\":\"progress\",\"ran_us\":12.5,\"waited_us\":3.0,"
                + "\"voluntary_switches\":1,\"involuntary_switches\":4}]}"));
    assertEquals(
        new AmongThreadsEvent.Ended(2),
        AmongThreadsEvent.parse("{\"event\":\"end\",\"rank\":0,\"wrong\":2}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Segmentation fault",
        "{}",
        "[1]",
        "{\"event\":\"end\"}",
        "{\"event\":\"turns\",\"bytes\":8,\"wrong\":0}",
        "{\"event\":\"turns\",\"bytes\":8,\"times_us\":[1]}"
      })
  void otherLinesAreUnknown(String line) {
    assertInstanceOf(AmongThreadsEvent.Unknown.class, AmongThreadsEvent.parse(line));
  }

  @Test
  void allReduceLastsUntilTheSlowestRank() {
    assertEquals(
        List.of(4.0, 6.0, 5.0),
        AmongThreadsReport.slowestOf(List.of(List.of(4.0, 2.0, 5.0), List.of(1.0, 6.0, 5.0))));
  }

  @Test
  void ratiosAreOfTheSameRound() {
    List<AmongThreadsReport.Row> rows =
        AmongThreadsReport.rows(
            List.of(Map.of(8L, List.of(10.0, 100.0, 20.0)), Map.of(8L, List.of(20.0, 300.0, 20.0))),
            NO_ACCOUNTS);
    assertEquals(1, rows.size());
    AmongThreadsReport.Cell own = rows.getFirst().cells().get(0);
    assertEquals(20, own.medianUs());
    assertEquals(15, own.lowerQuartileUs());
    assertEquals(60, own.upperQuartileUs());
    assertEquals(2, own.timesRival(), "of 2, 3 and 1; the medians' ratio would be 1");
    assertEquals(1.5, own.lowerQuartileTimesRival());
    assertEquals(2.5, own.upperQuartileTimesRival());
    assertEquals(1, rows.getFirst().cells().get(1).timesRival());
  }

  private static String table(AmongThreadsReport.Accounts accounts) {
    return new AmongThreadsReport(
            "loopback addresses",
            2,
            0.5,
            3.25,
            AmongThreadsReport.Algorithm.TREE,
            3,
            2,
            200,
            1,
            20,
            List.of("A, 1 plane", "B, the rival"),
            AmongThreadsReport.rows(
                List.of(Map.of(1024L, List.of(40.0)), Map.of(1024L, List.of(50.0))), accounts))
        .table();
  }

  @Test
  void tableHasConditionsAndFigures() {
    String table = table(NO_ACCOUNTS);
    assertTrue(
        table.contains("tree, 3 ranks, 2 channels; loopback addresses, 2 processors"), table);
    assertTrue(table.contains("load 0.5 before and 3.3 at the end"), table);
    assertTrue(table.contains("medians of 1 rounds of 20 all-reduces"), table);
    assertTrue(table.contains("A, 1 plane"), table);
    assertTrue(table.contains("40.0        (40.0 to 40.0)    1.25 (1.25 to 1.25)"), table);
    assertEquals(5, table.lines().count(), table);
  }

  @Test
  void tableHasThreadAccountsIfEnabled() {
    String table =
        table((contestant, bytes) ->
            contestant == 0
                ? List.of(
                    new ThreadAccount("worker", 70, 5, 0, 3.25),
                    new ThreadAccount("rests", 0.2, 0, 0, 0))
                : List.of());
    assertTrue(table.contains("1024 A, 1 plane"), table);
    assertTrue(table.contains("worker                 70.0        5.0      0.00      3.25"), table);
    assertFalse(table.contains("rests"), table);
  }

  @Test
  void accountsOfThreadsWithTheSameNameAreSummed() {
    assertEquals(
        List.of(
            new ThreadAccount("progress", 6, 2, 1, 4), new ThreadAccount("worker", 5, 0, 0.5, 0)),
        ThreadAccount.means(
            List.of(
                new ThreadAccount("progress", 4, 1, 0, 8),
                new ThreadAccount("worker", 10, 0, 1, 0),
                new ThreadAccount("progress", 8, 3, 2, 0)),
            2));
  }

  @Test
  void orderHasTheDriversFormat() {
    AmongThreadsPlan plan =
        new AmongThreadsPlan(
            Path.of("driver"), AmongThreadsReport.Algorithm.RING, 3, 2, 0, 4096, 20, false);
    assertEquals("1024 20", plan.requestLine(1024));
    List<String> command = plan.command(Path.of("plugin.so"), Path.of("folder"), 2);
    assertEquals("ring", command.get(command.indexOf("--algorithm") + 1));
    assertEquals("2", command.get(command.indexOf("--rank") + 1));
    assertEquals("4096", command.get(command.indexOf("--max-bytes") + 1));
    assertFalse(command.contains("--threads"));
  }
}
