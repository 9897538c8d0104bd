package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Patience;
import io.heddle.transport.data.RecvComm;
import io.heddle.verbs.DeviceContext;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How often callers look at the device, on soft devices over IPv4 loopback. */
class LooksTest {
  private static final int LOOKS = 1000;

  @TempDir private Path folder;

  @Test
  void whoGoesOverSeveralConnectionsLooksOnceEachTime() {
    try (Ends ends = new Ends(null, folder, List.of(1), List.of(1), Map.of());
        Ends.Link first = ends.connect();
        Ends.Link second = ends.connect();
        Ends.Link third = ends.connect()) {
      DeviceContext device = first.receiving().device().context();
      List<RecvComm> receivers = List.of(first.receiver(), second.receiver(), third.receiver());
      receivers.forEach(receiver -> assertEquals(0, receiver.progress()));
      int sweeps = 0;
      int looks = 0;
      Patience patience = Patience.ofSeconds(20);
      /* While another thread has the device in its hands there is none. */
      while (looks < LOOKS) {
        for (RecvComm receiver : receivers) {
          looks += looksAt(device, receiver);
        }
        sweeps++;
        assertFalse(patience.isOver(), "looks: " + looks);
      }
      assertTrue(sweeps > LOOKS * 0.9, "sweeps for 1000 looks: " + sweeps);
    }
  }

  @Test
  void whoGoesOverOneConnectionLooksByItself() {
    try (Ends ends = new Ends(null, folder, List.of(1), List.of(1), Map.of());
        Ends.Link link = ends.connect();
        Ends.Link idle = ends.connect()) {
      DeviceContext device = link.receiving().device().context();
      int looks = 0;
      Patience patience = Patience.ofSeconds(20);
      while (looks < LOOKS) {
        looks += looksAt(device, link.receiver());
        assertFalse(patience.isOver(), "looks: " + looks);
      }
    }
  }

  private static int looksAt(DeviceContext device, RecvComm receiver) {
    long before = device.progressedAtNs();
    assertEquals(0, receiver.progress());
    return device.progressedAtNs() == before ? 0 : 1;
  }
}
