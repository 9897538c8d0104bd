package io.heddle.softroce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A way that can't take segmented sends, beside one that can. The first is a UDP-Lite socket: for
 * it the kernel answers such a send with EIO, as it does for a route through IPsec.
 */
class TrainSenderTest {
  private static final int PACKET = 1000;
  private static final int PACKETS = 4;
  private static final int IPPROTO_UDPLITE = 136;
  private static final int AF_INET6 = 10;
  private static final int DATAGRAM_NONBLOCK = 2 | 0x800;

  private final Arena arena = Arena.ofConfined();
  private final List<String> lines = new ArrayList<>();
  private final TrainSender sender =
      new TrainSender(arena, (level, line) -> lines.add(line), PacketGate.OPEN);
  private final DatagramReceiver receiver = new DatagramReceiver(arena);
  private final MemorySegment capture = LinuxCalls.errnoCapture();
  private final List<UdpSocket> sockets = new ArrayList<>();
  private long train;
  private Gid here = new Gid(0, 0);

  @BeforeEach
  void prepare() throws Exception {
    here = Gid.of(InetAddress.getByName("127.0.0.1"));
    train = Memory.allocate(arena, PACKET * PACKETS, 8);
    for (int i = 0; i < PACKET * PACKETS; i++) {
      Memory.ALL.set(java.lang.foreign.ValueLayout.JAVA_BYTE, train + i, (byte) (i / PACKET));
    }
  }

  @AfterEach
  void close() {
    sockets.forEach(UdpSocket::close);
    arena.close();
  }

  /* Bound to an IPv6 loopback port; UDP-Lite has its own ports. */
  private UdpSocket lite() throws Exception {
    int fd = LinuxCalls.socket(AF_INET6, DATAGRAM_NONBLOCK, IPPROTO_UDPLITE);
    if (fd < 0) {
      String why = "no UDP-Lite here: " + Errno.describe(-fd);
      System.out.println("skipped: " + why);
      Assumptions.abort(why);
    }
    long name = Memory.allocate(arena, UdpSocket.SOCKADDR_BYTES + 8, 8);
    Memory.ALL.set(Memory.NATIVE_SHORT, name, (short) AF_INET6);
    Memory.ALL.set(Memory.NETWORK_LONG, name + 8, here.high());
    Memory.ALL.set(Memory.NETWORK_LONG, name + 16, here.low());
    assertEquals(0, LinuxCalls.bind(fd, name, UdpSocket.SOCKADDR_BYTES));
    Memory.ALL.set(Memory.NATIVE_INT, name + UdpSocket.SOCKADDR_BYTES, UdpSocket.SOCKADDR_BYTES);
    assertEquals(0, LinuxCalls.getsockname(fd, name, name + UdpSocket.SOCKADDR_BYTES));
    int port = Memory.ALL.get(Memory.NETWORK_SHORT, name + 2) & 0xffff;
    return kept(new UdpSocket(fd, here, port));
  }

  private UdpSocket kept(UdpSocket socket) {
    sockets.add(socket);
    return socket;
  }

  private void send(UdpSocket socket) {
    assertTrue(sender.send(capture, socket, train, PACKET * PACKETS, PACKET));
  }

  /* The packets that come, each with its mark: "0 1 2 3". */
  private String received(UdpSocket socket) throws InterruptedException {
    StringBuilder text = new StringBuilder();
    int packets = 0;
    for (int tries = 0; packets < PACKETS && tries < 2000; tries++) {
      int datagrams = Math.max(0, receiver.receive(capture, socket.fd()));
      for (int i = 0; i < datagrams; i++) {
        for (int at = 0; at < receiver.lengthBytes(i); at += PACKET) {
          byte mark =
              Memory.ALL.get(java.lang.foreign.ValueLayout.JAVA_BYTE, receiver.address(i) + at);
          text.append(packets++ == 0 ? "" : " ").append(mark);
        }
      }
      if (datagrams == 0) {
        Thread.sleep(1);
      }
    }
    return text.toString();
  }

  @Test
  void oneWayThatCantSegmentIsSlowAloneAndSaysSoOnce() throws Exception {
    UdpSocket slowTo = lite();
    UdpSocket slow = lite();
    slow.connect(here, 0, slowTo.port());
    UdpSocket sibling = lite();
    sibling.connect(here, 0, slowTo.port());
    UdpSocket fastTo = kept(UdpSocket.bind(here, 0, 0, true));
    UdpSocket fast = kept(UdpSocket.bind(here, 0, 0, false));
    fast.connect(here, 0, fastTo.port());

    send(slow);
    assertEquals("0 1 2 3", received(slowTo), "nothing of the refused train is lost");
    send(slow);
    assertEquals("0 1 2 3", received(slowTo));
    send(sibling);
    assertEquals("0 1 2 3", received(slowTo));
    assertFalse(slow.segments());
    assertEquals(1, lines.size(), lines.toString());
    assertTrue(lines.getFirst().contains("127.0.0.1"), lines.toString());

    send(fast);
    assertTrue(fast.segments());
    long start = System.nanoTime();
    int datagrams = 0;
    while (datagrams <= 0 && System.nanoTime() - start < 2_000_000_000L) {
      datagrams = receiver.receive(capture, fastTo.fd());
    }
    assertEquals(1, datagrams, "one train, still in one piece");
    assertEquals(PACKET * PACKETS, receiver.lengthBytes(0));
    assertEquals(PACKET, receiver.strideBytes(0));
    assertEquals(1, lines.size(), lines.toString());
  }
}
