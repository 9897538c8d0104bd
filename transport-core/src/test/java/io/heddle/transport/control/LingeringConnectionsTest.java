package io.heddle.transport.control;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LingeringConnectionsTest {
  private final List<Integer> ended = new ArrayList<>();

  @ParameterizedTest
  @CsvSource({"-1, 1024", "1000000, 1024", "20000, 833", "4096, 170", "1024, 64", "0, 64"})
  void noCloseWaitsBeyondTheProcessLimit(long openFiles, int most) {
    LingeringConnections lingering = new LingeringConnections(openFiles);
    for (int i = 0; i < 3000; i++) {
      int number = i;
      lingering.add(() -> ended.add(number));
    }
    assertEquals(most, lingering.count());
    assertEquals(3000 - most, ended.size());
    assertEquals(0, ended.getFirst(), "the one that has waited longest");
    assertEquals(3000 - most - 1, ended.getLast());
  }

  @Test
  void endedCloseFreesItsPlace() {
    LingeringConnections lingering = new LingeringConnections(0);
    for (int i = 0; i < 3000; i++) {
      int number = i;
      Runnable end = () -> ended.add(number);
      lingering.add(end);
      lingering.remove(end);
      lingering.remove(end);
    }
    assertEquals(0, lingering.count());
    assertEquals(List.of(), ended);
  }
}
