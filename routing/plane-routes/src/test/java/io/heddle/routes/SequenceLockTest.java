package io.heddle.routes;

import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.verbs.testing.JcstressRun;
import org.junit.jupiter.api.Test;

/*
 * Runs the jcstress tests, which {@code ./heddle test} skips. {@link KilledPublisherTest} and {@link
 * CutRoutesTest} always run: they cover killed publishers and truncated files.
 */
class SequenceLockTest {
  @Test
  @WholeRunOnly
  void aReaderSeesWholeStatesOnly() {
    JcstressRun.allOf(SequenceLockStress.class);
  }
}
