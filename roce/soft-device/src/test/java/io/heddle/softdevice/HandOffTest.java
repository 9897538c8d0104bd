package io.heddle.softdevice;

import io.heddle.verbs.testing.JcstressRun;
import org.junit.jupiter.api.Test;

class HandOffTest {
  @Test
  void handOffsAreCompleteAndNotLost() {
    JcstressRun.allOf(HandOffStress.class);
  }
}
