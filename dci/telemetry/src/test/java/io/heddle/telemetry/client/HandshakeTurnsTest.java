package io.heddle.telemetry.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who may shake hands when. */
final class HandshakeTurnsTest {
  private final HandshakeTurns turns = new HandshakeTurns(2);
  private final List<String> begun = new ArrayList<>();

  private HandshakeTurns.Turn take(String name) {
    return turns.take(() -> begun.add(name));
  }

  @Test
  void othersWaitInTheirOrder() {
    HandshakeTurns.Turn first = take("a");
    HandshakeTurns.Turn second = take("b");
    take("c");
    take("d");
    assertEquals(List.of("a", "b"), begun);
    second.release();
    assertEquals(List.of("a", "b", "c"), begun);
    first.release();
    assertEquals(List.of("a", "b", "c", "d"), begun);
  }

  @Test
  void turnThatIsGivenBackTwiceCountsOnce() {
    HandshakeTurns.Turn first = take("a");
    take("b");
    take("c");
    take("d");
    first.release();
    first.release();
    assertEquals(List.of("a", "b", "c"), begun);
  }

  @Test
  void whoLeavesTheQueueHasNoTurn() {
    HandshakeTurns.Turn first = take("a");
    take("b");
    HandshakeTurns.Turn third = take("c");
    take("d");
    third.release();
    assertEquals(List.of("a", "b"), begun);
    first.release();
    assertEquals(List.of("a", "b", "d"), begun);
    third.release();
    assertEquals(List.of("a", "b", "d"), begun, "it had left already");
  }

  @Test
  void turnMayBeGivenBackAsItBegins() {
    for (int i = 0; i < 5; i++) {
      take("x").release();
    }
    assertEquals(5, begun.size());
  }
}
