package io.heddle.bpf;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

final class ProcessorsTest {
  @Test
  void countsRangesAndSingleProcessors() {
    assertEquals(1, Processors.count("0\n"));
    assertEquals(4, Processors.count("0-3\n"));
    assertEquals(7, Processors.count("0-3,8,10-11"));
  }
}
