package io.heddle.softdevice.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.heddle.platform.Memory;
import io.heddle.platform.SocketCalls;
import io.heddle.platform.testing.Deadline;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what the kernel's control messages report about datagrams over the loopback. */
class DatagramReceiverTest {
  private static final int PACKET = 1000;
  private static final int PACKETS = 4;

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "::1"})
  void congestionMarksAreReportedWithoutSplittingTrains(String address) throws Exception {
    Gid here = Gid.of(InetAddress.getByName(address));
    try (Arena arena = Arena.ofConfined();
        UdpSocket to = UdpSocket.bind(here, 0, 0, true);
        UdpSocket from = UdpSocket.bind(here, 0, 0, false)) {
      DatagramReceiver receiver = new DatagramReceiver(arena);
      long train = Memory.allocate(arena, PACKET * PACKETS, 8);
      long cell = Memory.allocate(arena, SocketCalls.CELL_BYTES, 64);
      from.connect(here, 0, to.port());
      for (int step = 0; step < 4; step++) {
        boolean enabled = step >= 2;
        /*
         * Sends a datagram marked ECN-capable, then one marked congestion experienced, which sets
         * both ECN bits.
         */
        boolean marked = step % 2 == 1;
        if (step == 2) {
          to.enableCongestionMarks();
        }
        from.setTrafficClass(marked ? 3 : 2);
        SocketCalls.send(from.fd(), train, PACKET * PACKETS, PACKET, cell);
        awaitOne(receiver, to);
        assertEquals(
            enabled && marked ? DatagramReceiver.MARKED : 0, receiver.remarks(0), "step " + step);
        assertEquals(PACKET * PACKETS, receiver.lengthBytes(0), "step " + step);
        assertEquals(PACKET, receiver.strideBytes(0), "step " + step);
      }
    }
  }

  private static void awaitOne(DatagramReceiver receiver, UdpSocket socket) {
    Deadline deadline = Deadline.ofSeconds(20);
    while (receiver.receive(socket.fd()) <= 0) {
      assertFalse(deadline.isOver(), "nothing comes");
    }
  }
}
