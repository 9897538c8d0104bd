package io.heddle.routes;

import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.verbs.testing.JcstressRun;
import org.junit.jupiter.api.Test;

/* Long form; the short form is the tests with killed writers and cut files. */
class SequenceLockTest {
  @Test
  @WholeRunOnly
  void aReaderSeesWholeStatesOnly() {
    JcstressRun.allOf(SequenceLockStress.class);
  }
}
