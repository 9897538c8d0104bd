package io.heddle.routes;

import io.heddle.platform.testing.InWholeRun;
import io.heddle.verbs.testing.JcstressRun;
import org.junit.jupiter.api.Test;

/* Writers that are killed and files that are cut, in other tests, are the short form. */
class SequenceLockTest {
  @Test
  @InWholeRun
  void aReaderSeesWholeStatesOnly() {
    JcstressRun.allOf(SequenceLockStress.class);
  }
}
