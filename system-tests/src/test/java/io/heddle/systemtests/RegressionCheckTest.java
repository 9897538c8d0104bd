package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Check that nothing has become slower by a factor. It compares ratios of interleaved contestants
 * with the recorded ratios. A median under load needs many rounds. {@code BenchTest} tests the
 * judgement itself.
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
