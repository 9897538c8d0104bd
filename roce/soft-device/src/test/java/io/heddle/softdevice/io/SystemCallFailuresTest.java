package io.heddle.softdevice.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.PipeCalls;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.transport.LargeTrains;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/**
 * Tests that permanent failures of the data path's system calls are reported immediately and only
 * once.
 */
@EndsWithin(60)
class SystemCallFailuresTest {
  private static final int UNUSED_DESCRIPTOR = 1 << 29;
  private static final int UNUSED_PORT = 9;
  private static final int AF_INET = 2;
  private static final int SOCK_STREAM_CLOEXEC_NONBLOCK = 1 | 0x80000 | 0x800;

  private static final TrainSink NO_PACKETS =
      (view, base, address, length, stride, high, low, port, nowNs) -> {
        throw new AssertionError(length + " bytes came");
      };

  private final List<String> lines = new ArrayList<>();
  private final Log log = (level, sentence) -> lines.add(level + " " + sentence);
  private final Queue<AsyncEvent> events = AsyncEvent.queue();
  private final SystemCallFailures failures = new SystemCallFailures(log, events);

  private void assertReportedOnce(String words) {
    assertEquals(1, lines.size(), lines::toString);
    assertTrue(lines.getFirst().startsWith("WARN soft0 has failed: " + words), lines::toString);
    assertEquals(AsyncEvent.DEVICE_FATAL, events.poll());
    assertNull(events.poll());
  }

  private void receive(Arena arena, int fd, int rounds) {
    ReceiveSockets sockets = new ReceiveSockets(arena, new Counters(), failures);
    sockets.add(fd, 0);
    for (int i = 0; i < rounds; i++) {
      sockets.receiveAll(NO_PACKETS, i);
    }
  }

  @Test
  void replacedReceivingSocketEndsDevice() {
    try (Arena arena = Arena.ofConfined()) {
      long ends = Memory.allocate(arena, 2L * Integer.BYTES, 8);
      assertEquals(0, PipeCalls.pipe(ends, 0x80000));
      int in = Memory.getInt(ends);
      LinuxCalls.closeWith(arena, in);
      LinuxCalls.closeWith(arena, Memory.getInt(ends + Integer.BYTES));
      receive(arena, in, 3);
      assertReportedOnce("recvmmsg on descriptor " + in + ": errno (88)");
    }
  }

  @Test
  void repeatedErrorEndsDevice() {
    try (Arena arena = Arena.ofConfined()) {
      /* Receiving on this unconnected socket fails with ENOTCONN each time. */
      int fd = LinuxCalls.socket(AF_INET, SOCK_STREAM_CLOEXEC_NONBLOCK, 0);
      LinuxCalls.closeWith(arena, fd);
      receive(arena, fd, SystemCallFailures.MAX_IN_A_ROW - 1);
      assertEquals(List.of(), lines);
      receive(arena, fd, 2 * SystemCallFailures.MAX_IN_A_ROW);
      assertReportedOnce("recvmmsg on descriptor " + fd);
    }
  }

  @Test
  void closedSendingSocketEndsDevice() {
    try (Arena arena = Arena.ofConfined()) {
      TrainSender sender =
          new TrainSender(arena, log, PacketGate.OPEN, null, new LargeTrains(), failures);
      UdpSocket closed =
          new UdpSocket(UNUSED_DESCRIPTOR, Gid.of(InetAddress.getLoopbackAddress()), UNUSED_PORT);
      long packet = Memory.allocate(arena, 64, 8);
      assertTrue(sender.send(closed, packet, 64, 64));
      assertTrue(sender.send(closed, packet, 64, 64));
      assertReportedOnce(
          "sendmsg on descriptor " + UNUSED_DESCRIPTOR + ": EBADF (9). The descriptor isn't");
    }
  }

  @Test
  void transientErrorsAreIgnored() {
    for (int errno :
        new int[] {Errno.EAGAIN, Errno.ENOBUFS, Errno.ECONNREFUSED, Errno.EPERM, Errno.EMSGSIZE}) {
      assertEquals(false, SystemCallFailures.isPermanent(errno), Errno.describe(errno));
    }
  }
}
