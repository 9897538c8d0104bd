package io.heddle.tools.bench.contest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Test of {@link Quantiles}. */
final class QuantilesTest {
  @Test
  void medianOfEvenCountIsTheMeanOfTheMiddleValues() {
    assertEquals(3, Quantiles.of(List.of(5.0, 1.0, 3.0)).median());
    assertEquals(2.5, Quantiles.of(List.of(40.0, 1.0, 2.0, 3.0)).median());
    assertEquals(7, Quantiles.of(List.of(7.0)).median());
  }

  @Test
  void bestQuarterIsAMeasuredValueOfTheBetterEnd() {
    Quantiles five = Quantiles.of(List.of(5.0, 1.0, 3.0, 4.0, 2.0));
    assertEquals(2, five.bestQuarter(true));
    assertEquals(4, five.bestQuarter(false));
    Quantiles three = Quantiles.of(List.of(5.0, 1.0, 3.0));
    assertEquals(1, three.bestQuarter(true));
    assertEquals(5, three.bestQuarter(false));
  }

  @Test
  void nearestIsAMeasuredValue() {
    Quantiles four = Quantiles.of(List.of(40.0, 20.0, 10.0, 0.0));
    assertEquals(0, four.nearest(0));
    assertEquals(10, four.nearest(0.25));
    assertEquals(20, four.nearest(0.5), "the greater of the two in the middle");
    assertEquals(20, four.nearest(0.75));
    assertEquals(40, four.nearest(1));
  }

  @Test
  void endsAreMinimumAndMaximum() {
    Quantiles all = Quantiles.of(List.of(5.0, -1.0, 3.0));
    assertEquals(-1, all.least());
    assertEquals(5, all.most());
  }

  @Test
  void quantilesOfNothingAreNaN() {
    Quantiles none = Quantiles.of(List.of());
    assertEquals(Double.NaN, none.median());
    assertEquals(Double.NaN, none.bestQuarter(true));
    assertEquals(Double.NaN, none.nearest(0.5));
    assertEquals(Double.NaN, none.least());
    assertEquals(Double.NaN, none.most());
  }

  @Test
  void nanIsSkippedByOfFiniteAndKeptByOf() {
    List<Double> rounds = List.of(Double.NaN, 4.0, Double.POSITIVE_INFINITY, 2.0);
    Quantiles finite = Quantiles.ofFinite(rounds);
    assertEquals(3, finite.median());
    assertEquals(4, finite.most());
    Quantiles all = Quantiles.of(rounds);
    assertEquals(Double.NaN, all.least());
    assertEquals(Double.NaN, all.most());
  }
}
