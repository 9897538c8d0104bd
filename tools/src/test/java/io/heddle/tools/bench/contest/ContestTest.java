package io.heddle.tools.bench.contest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.kit.Json;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Test of {@link Contest}, its comparisons and its table. */
final class ContestTest {
  private final List<String> order = new ArrayList<>();

  private static Contest contest(int rounds) {
    return new Contest("perf x", "a title", "%1$s, %2$s%3$s", rounds);
  }

  private static void add(Contest to, String contestant, String unit, Double... rounds) {
    for (double each : rounds) {
      to.add("8B", contestant, "", unit, each);
    }
  }

  private static Figure figure(Contest of, String name) {
    return of.results().figures().stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError(name + " isn't in " + of.results().figures()));
  }

  private Contestant<String> contestant(String name) {
    return new Contestant<>() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public void measure(String step, Round round) {
        order.add(step + name);
        round.add(step, "", "us", order.size());
      }
    };
  }

  @Test
  void contestantsTakeTurnsAndFirstRoundsDontCount() throws Exception {
    Contest contest = contest(2);
    contest.measure(List.of("x", "y"), 1, List.of(contestant("A"), contestant("B")));
    List<String> round = List.of("xA", "xB", "yA", "yB");
    assertEquals(round, order.subList(0, 4));
    assertEquals(round, order.subList(8, 12));
    assertEquals(12, order.size());
    assertEquals(List.of(5.0, 9.0), contest.values("x", "A", ""));
    assertEquals(List.of(8.0, 12.0), contest.values("y", "B", ""));
    assertEquals(List.of(), contest.values("z", "B", ""));
  }

  @Test
  void ratiosAreThoseOfTheSameRound() {
    Contest contest = contest(3);
    add(contest, "1 plane", "Gbit/s", 30.0, 40.0, 45.0);
    add(contest, "TCP", "Gbit/s", 60.0, 50.0, 40.0);
    contest.compare(Contest.Ratio.OF_ROUNDS, "", "TCP", " ÷ TCP");
    contest.compare(Contest.Ratio.OF_ROUNDS_INVERSE, "", "TCP", ", TCP ÷ ours");
    contest.compare(Contest.Ratio.OF_BEST_QUARTERS, "", "TCP", " ÷ TCP, best quarters");
    contest.compare(Contest.Ratio.OF_FASTEST, "", "TCP", " ÷ TCP, fastest");
    assertEquals(
        new Figure("8B, 1 plane ÷ TCP", "", 0.8, 0.5, 1.125), figure(contest, "8B, 1 plane ÷ TCP"));
    assertEquals(1.25, figure(contest, "8B, 1 plane, TCP ÷ ours").median());
    assertEquals(45.0 / 60, figure(contest, "8B, 1 plane ÷ TCP, best quarters").median());
    assertEquals(30.0 / 40, figure(contest, "8B, 1 plane ÷ TCP, fastest").median());
    assertTrue(
        contest.results().figures().stream().noneMatch(each -> each.name().startsWith("8B, TCP ")),
        "the reference isn't compared with itself");
  }

  @Test
  void bestQuarterOfTimesIsTheLowest() {
    Contest contest = contest(5);
    add(contest, "1 plane", "us", 20.0, 8.0, 9.0, 9.0, 10.0);
    add(contest, "TCP", "us", 10.0, 10.0, 10.0, 10.0, 30.0);
    contest.compare(Contest.Ratio.OF_BEST_QUARTERS, "", "TCP", " ÷ TCP");
    assertEquals(0.9, figure(contest, "8B, 1 plane ÷ TCP").median(), 1e-9);
  }

  @Test
  void roundWithoutValueHasNoRatioAndIsNullInJson() {
    Contest contest = contest(3);
    add(contest, "1 plane", "Gbit/s", 10.0, Double.NaN, 30.0);
    add(contest, "TCP", "Gbit/s", 20.0, 20.0, Double.NaN);
    contest.compare(Contest.Ratio.OF_ROUNDS, "", "TCP", " ÷ TCP");
    assertEquals(
        new Figure("8B, 1 plane ÷ TCP", "", 0.5, 0.5, 0.5), figure(contest, "8B, 1 plane ÷ TCP"));
    assertEquals(20, figure(contest, "8B, 1 plane").median());
    String json = Json.of(contest.results()).replaceAll("\\s", "");
    assertTrue(json.contains("\"rounds\":[10.0,null,30.0]"), json);
  }

  @Test
  void tableHasSectionsOfCommonQuantitiesAndVerdicts() {
    Contest contest = contest(2).set("mtu_bytes", 9000);
    contest.remark("a remark");
    add(contest, "1 plane", "us", 10.0, 30.0);
    add(contest, "TCP", "us", 10.0, 10.0);
    contest.compare(Contest.Ratio.OF_ROUNDS, "", "TCP", " ÷ TCP");
    contest.add("worker", "1 plane", ": ran", "us", 7);
    contest.bind("8B", "1 plane", " ÷ TCP", Bound.atMost(1.5));
    contest.add(Figure.of("pause", "ms", 1).within(Bound.atMost(2)));
    contest.add(Figure.of("free", "", 123.4));
    List<String> lines = contest.table().lines().toList();
    assertEquals("# heddle perf x: a title", lines.getFirst());
    assertEquals(
        List.of(
            "# mtu_bytes: 9000",
            "# a remark",
            "# median of 2 rounds in turns (least to most)",
            "#",
            "#                                      ÷ TCP",
            "  8B  1 plane  20.0 us (10.0 to 30.0)  2.00 (1.00 to 3.00)",
            "  8B  TCP      10.0 us",
            "#",
            "#                  ran",
            "  worker  1 plane  7.00 us",
            "#",
            "  8B, 1 plane ÷ TCP  2.00 (1.00 to 3.00)  ≤ 1.50  MISSED",
            "  pause              1.00 ms              ≤ 2.00  met",
            "  free               123"),
        lines.subList(2, lines.size()));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0B",
    "8, 8B",
    "1023, 1023B",
    "1024, 1K",
    "1025, 1025B",
    "65536, 64K",
    "1048575, 1048575B",
    "1048576, 1M",
    "1049600, 1025K",
    "4194304, 4M"
  })
  void sizesHaveTheNotationOfOptions(long bytes, String text) {
    assertEquals(text, Contest.size(bytes));
  }
}
