package io.heddle.transport.data;

import io.heddle.verbs.testing.JcstressRun;
import org.junit.jupiter.api.Test;

class HandOffTest {
  @Test
  void requestLinesAndTheBatonGoFromHandToHandWhole() {
    JcstressRun.allOf(HandOffStress.class);
  }
}
