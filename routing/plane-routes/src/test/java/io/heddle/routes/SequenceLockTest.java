package io.heddle.routes;

import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.verbs.testing.JcstressRun;
import org.junit.jupiter.api.Test;

/* Runs the jcstress tests, in whole runs only. Every run tests killed writers and cut files. */
class SequenceLockTest {
  @Test
  @WholeRunOnly
  void aReaderSeesWholeStatesOnly() {
    JcstressRun.allOf(SequenceLockStress.class);
  }
}
