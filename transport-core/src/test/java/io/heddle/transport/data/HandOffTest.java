package io.heddle.transport.data;

import io.heddle.verbs.testing.JcstressRun;
import org.junit.jupiter.api.Test;

class HandOffTest {
  @Test
  void requestLinesAndTheBatonAreHandedOffWhole() {
    JcstressRun.allOf(HandOffStress.class);
  }
}
