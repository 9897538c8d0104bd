package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Test that Heddle hasn't become several times slower. It measures Heddle and rivals alternately,
 * and compares the ratios of their speeds with recorded ratios. On a busy machine a stable median
 * needs many rounds. {@code BenchTest} tests the comparison itself.
 */
@EndsWithin(400)
@Isolated("it compares speeds")
@SystemTest
final class RegressionCheckTest {
  @Test
  @WholeRunOnly
  void ratiosAreWithinTheRegressionLimit() throws Exception {
    BuildOutputs.plugin();
    BuildOutputs.standin();
    Skip.unless(Lab.Kind.NAMESPACES);
    String compared = HeddleRun.output("bench", "--check");
    System.out.print(compared);
    assertTrue(compared.lines().filter(line -> line.startsWith("fine ")).count() > 3, compared);
  }
}
