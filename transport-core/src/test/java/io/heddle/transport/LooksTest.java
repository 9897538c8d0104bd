package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.transport.data.RecvComm;
import io.heddle.verbs.DeviceContext;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How often callers look at the device, on soft devices over IPv4 loopback. */
class LooksTest {
  private static final int SWEEPS = 1000;

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
      int looks = 0;
      for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (RecvComm receiver : receivers) {
          long before = device.progressedAtNs();
          assertEquals(0, receiver.progress());
          looks += device.progressedAtNs() == before ? 0 : 1;
        }
      }
      /* The device's own thread may have it in hand now and then. */
      assertTrue(looks <= SWEEPS && looks > SWEEPS / 2, "looks of 1000 sweeps: " + looks);
    }
  }

  @Test
  void whoHasOneConnectionLooksEachTime() {
    try (Ends ends = new Ends(null, folder, List.of(1), List.of(1), Map.of());
        Ends.Link link = ends.connect();
        Ends.Link idle = ends.connect()) {
      DeviceContext device = link.receiving().device().context();
      int looks = 0;
      for (int i = 0; i < SWEEPS; i++) {
        long before = device.progressedAtNs();
        assertEquals(0, link.receiver().progress());
        looks += device.progressedAtNs() == before ? 0 : 1;
      }
      assertTrue(looks > SWEEPS / 2, "looks of 1000 calls: " + looks);
    }
  }
}
