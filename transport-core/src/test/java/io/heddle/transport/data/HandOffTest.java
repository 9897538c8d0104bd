package io.heddle.transport.data;

import io.heddle.platform.testing.SystemTest;
import io.heddle.verbs.testing.JcstressRun;
import org.junit.jupiter.api.Test;

class HandOffTest {
  @Test
  @SystemTest
  void requestLinesAndTheBatonAreHandedOffWhole() {
    JcstressRun.allOf(HandOffStress.class);
  }
}
