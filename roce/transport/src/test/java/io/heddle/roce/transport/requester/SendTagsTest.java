package io.heddle.roce.transport.requester;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Tests that tags, which are few, are reused while answers are outstanding. */
final class SendTagsTest {
  private final SendTags tags = new SendTags();

  SendTagsTest() {
    tags.clear();
  }

  private void send(int count) {
    for (int i = 0; i < count; i++) {
      tags.next(i % 4, i, false);
      tags.sent();
    }
  }

  @Test
  void widthProbeTagStaysReserved() {
    int first = tags.nextWidthProbe(0, 1);
    tags.sent();
    int second = tags.nextWidthProbe(1, 2);
    tags.sent();
    send(1000);
    assertTrue(tags.answer(first));
    assertTrue(tags.isWidthProbe(first));
    assertEquals(0, tags.link(first));
    assertEquals(1, tags.sentAtNs(first));
    assertTrue(tags.answer(second));
    assertTrue(tags.isWidthProbe(second));
    assertFalse(tags.answer(first), "once");
  }

  @Test
  void lostWidthProbesReserveOneTagPerLink() {
    for (int i = 0; i < 1000; i++) {
      for (int link = 0; link < 16; link++) {
        tags.nextWidthProbe(link, i);
        tags.sent();
      }
    }
    send(1000);
    int kept = 0;
    for (int tag = 1; tag < 128; tag++) {
      kept += tags.isWidthProbe(tag) ? 1 : 0;
    }
    assertEquals(16, kept);
  }
}
