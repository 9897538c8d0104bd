package io.heddle.softdevice.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.NetworkLink;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.transport.Pause;
import io.heddle.roce.wire.LinkEnd;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests bundles whose socket is full. It uses a local datagram socket: data that the receiver
 * hasn't read fills the sender's buffer, as on a slow link.
 */
class SendStageTest {
  private static final int AF_UNIX = 1;
  private static final int DATAGRAM_NONBLOCK = 2 | 0x800;
  private static final int BYTES = 64;
  private static final int MOST = 100_000;

  private final Arena arena = Arena.ofConfined();
  private final Counters counters = new Counters();
  private final SystemCallFailures callFailures =
      new SystemCallFailures((level, line) -> {}, AsyncEvent.queue());
  private final SendStage sendStage =
      new SendStage(
          arena,
          (level, line) -> {},
          System::nanoTime,
          PacketGate.OPEN,
          null,
          counters,
          callFailures);
  private final long packet = Memory.allocate(arena, BYTES, 8);
  private final long buffer = Memory.allocate(arena, 8192, 8);
  private final int receiver = LinuxCalls.socket(AF_UNIX, DATAGRAM_NONBLOCK, 0);
  private final UdpSocket socket =
      new UdpSocket(LinuxCalls.socket(AF_UNIX, DATAGRAM_NONBLOCK, 0), new Gid(0, 1), 4791);
  private final PeerLink link = new PeerLink();

  private void connect() {
    byte[] name = ("heddle-" + ProcessHandle.current().pid() + "-" + System.nanoTime()).getBytes();
    long address = Memory.allocate(arena, 128, 8);
    Memory.ALL.set(Memory.NATIVE_SHORT, address, (short) AF_UNIX);
    for (int i = 0; i < name.length; i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, address + 3 + i, name[i]);
    }
    assertEquals(0, LinuxCalls.bind(receiver, address, 3 + name.length));
    assertEquals(0, LinuxCalls.connect(socket.fd(), address, 3 + name.length));
    PacketFormat.writeBase(packet, PacketFormat.WRITE_ONLY, 0, 7, 0);
    NetworkLink lo = new NetworkLink(1, "lo", 65536, true, true, true, "", 0, "");
    link.takeSocket(socket, new SoftPort.Address(new Gid(0, 1), 0, lo), new ReceivePort(socket));
    link.acceptPeer(new LinkEnd(new Gid(0, 2), 4791, 4791), true, true);
    link.setSizes(PacketSizes.standard(PathMtu.MTU_1024));
  }

  @AfterEach
  void close() {
    link.close();
    LinuxCalls.close(receiver);
    arena.close();
  }

  private void gather() {
    assertTrue(sendStage.send(link, socket, packet, BYTES, BYTES, true));
  }

  private int received() {
    int datagrams = 0;
    while (LinuxCalls.read(LinuxCalls.errnoCapture(), receiver, buffer, 8192) > 0) {
      datagrams++;
    }
    return datagrams;
  }

  @Test
  void bundleStaysUntilSocketHasRoom() {
    connect();
    int left = 0;
    for (; sendStage.dueNs() == Pause.NEVER_NS && left < MOST; left++) {
      gather();
      gather();
      sendStage.sendPending();
    }
    assertTrue(left < MOST, "never full");
    long bundled = counters.packetsBundled();
    assertEquals(2L * (left - 1), bundled, "the last two wait");
    sendStage.sendPending();
    assertEquals(bundled, counters.packetsBundled(), "still full");
    assertEquals(left - 1, received());
    gather();
    sendStage.sendPending();
    assertEquals(1, received(), "with what came meanwhile");
    assertEquals(bundled + 3, counters.packetsBundled());
    assertEquals(Pause.NEVER_NS, sendStage.dueNs());
  }
}
