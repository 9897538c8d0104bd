package io.heddle.tools.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.tools.bench.contest.Figure;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProcessCostsTest {
  @Test
  void memoryAndProcessorTimeRemainAfterTheProcessEnds() throws Exception {
    Process process =
        new ProcessBuilder("sh", "-c", "x=$(head -c 20000000 /dev/zero | tr '\\0' a); echo; read y")
            .start();
    ProcessCosts costs = new ProcessCosts();
    assertTrue(costs.figures().stream().allMatch(each -> Double.isNaN(each.median())));
    assertEquals('\n', process.getInputStream().read());
    costs.sample(process.toHandle());
    List<Figure> seen = costs.figures();
    assertTrue(seen.getFirst().median() >= 20e6 / (1 << 20), seen.toString());
    assertTrue(seen.getLast().median() >= 0, seen.toString());
    process.getOutputStream().close();
    process.waitFor();
    costs.sample(process.toHandle());
    assertEquals(seen, costs.figures());
  }
}
