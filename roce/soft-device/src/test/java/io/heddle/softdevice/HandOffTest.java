package io.heddle.softdevice;

import io.heddle.verbs.testing.JcstressRun;
import org.junit.jupiter.api.Test;

class HandOffTest {
  @Test
  void whatOneThreadHandsToAnotherArrivesWholeAndIsNotForgotten() {
    JcstressRun.allOf(HandOffStress.class);
  }
}
