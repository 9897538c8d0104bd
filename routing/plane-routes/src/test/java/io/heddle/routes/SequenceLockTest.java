package io.heddle.routes;

import io.heddle.verbs.testing.JcstressRun;
import org.junit.jupiter.api.Test;

class SequenceLockTest {
  @Test
  void aReaderSeesWholeStatesOnly() {
    JcstressRun.allOf(SequenceLockStress.class);
  }
}
