package io.heddle.transport.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CallLimiterTest {
  private static final int MOST = 32;

  private final List<Integer> begun = new ArrayList<>();
  private final CallLimiter calls = new CallLimiter();

  private void begin(int number) {
    calls.begin(() -> begun.add(number));
  }

  @Test
  void endedCallMakesRoomForTheNext() {
    for (int i = 0; i < MOST + 2; i++) {
      begin(i);
    }
    assertEquals(MOST, begun.size());
    calls.onEnded();
    assertEquals(MOST, begun.getLast());
    calls.onEnded();
    assertEquals(MOST + 1, begun.getLast());
  }

  @Test
  void cancelledCallsNeverBegin() {
    for (int i = 0; i < MOST + 2; i++) {
      begin(i);
    }
    calls.cancelWaiting();
    calls.onEnded();
    assertEquals(MOST, begun.size());
  }

  @Test
  void thousandsOfImmediateCallsNeedNoMoreStackThanOne() {
    for (int i = 0; i < MOST; i++) {
      begin(i);
    }
    for (int i = 0; i < 100_000; i++) {
      int number = MOST + i;
      calls.begin(() -> {
        begun.add(number);
        calls.onEnded();
      });
    }
    begin(-1);
    assertEquals(MOST, begun.size());
    calls.onEnded();
    assertEquals(-1, begun.getLast());
    assertEquals(MOST + 100_001, begun.size());
  }

  @Test
  void callThatFailsAtOnceMakesRoomForTheNext() {
    for (int i = 0; i < MOST; i++) {
      begin(i);
    }
    calls.begin(() -> {
      throw new IllegalStateException("it fails");
    });
    begin(MOST);
    assertThrows(IllegalStateException.class, calls::onEnded);
    assertEquals(MOST, begun.getLast());
  }
}
