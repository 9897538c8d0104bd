package io.heddle.perftest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReportTextTest {
  /* Expected output of C's printf("%.2f") and printf("%.6f") for the same doubles. */
  @ParameterizedTest
  @CsvSource({
    "25390.625, 2, 25390.62",
    "25390.635, 2, 25390.63",
    "0.375, 2, 0.38",
    "1.005, 2, 1.00",
    "0.3808905, 6, 0.380891",
    "0, 2, 0.00",
    "1e15, 2, 1000000000000000.00",
    "NaN, 2, NaN"
  })
  void numbersAreRoundedLikePerftest(double value, int places, String expected) {
    assertEquals(expected, ReportText.fixed(value, places));
  }
}
