package io.heddle.softdevice.queue;

import io.heddle.platform.testing.SystemTest;
import io.heddle.verbs.testing.JcstressRun;
import org.junit.jupiter.api.Test;

class HandOffTest {
  @Test
  @SystemTest
  void handOffsAreCompleteAndNotLost() {
    JcstressRun.allOf(HandOffStress.class);
  }
}
