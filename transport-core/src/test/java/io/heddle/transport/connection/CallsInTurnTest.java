package io.heddle.transport.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CallsInTurnTest {
  private static final int MOST = 32;

  private final List<Integer> begun = new ArrayList<>();
  private final CallsInTurn calls = new CallsInTurn();

  private void begin(int number) {
    calls.begin(() -> begun.add(number));
  }

  @Test
  void oneThatEndsMakesRoomForTheNext() {
    for (int i = 0; i < MOST + 2; i++) {
      begin(i);
    }
    assertEquals(MOST, begun.size());
    calls.ended();
    assertEquals(MOST, begun.getLast());
    calls.ended();
    assertEquals(MOST + 1, begun.getLast());
  }

  @Test
  void noneOfThoseThatWereGivenUpBegins() {
    for (int i = 0; i < MOST + 2; i++) {
      begin(i);
    }
    calls.giveUp();
    calls.ended();
    assertEquals(MOST, begun.size());
  }
}
