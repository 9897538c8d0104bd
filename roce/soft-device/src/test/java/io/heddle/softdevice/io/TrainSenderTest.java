package io.heddle.softdevice.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.roce.transport.LargeTrains;
import io.heddle.roce.transport.PacketOutlet;
import io.heddle.roce.transport.PacketOutlet.Outcome;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests trains over the loopback: a path that can't segment beside one that can, and zero-copy
 * trains. The path that can't is a UDP-Lite socket: the kernel fails its segmented sends with EIO,
 * as on a route through IPsec.
 */
class TrainSenderTest {
  private static final int PACKET = 1000;
  private static final int PACKETS = 4;
  private static final int IPPROTO_UDPLITE = 136;
  private static final int AF_INET6 = 10;
  private static final int DATAGRAM_NONBLOCK = 2 | 0x800;

  private final Arena arena = Arena.ofConfined();
  private final List<String> lines = new ArrayList<>();
  private final LargeTrains trains = new LargeTrains();
  private final SystemCallFailures failures =
      new SystemCallFailures((level, line) -> lines.add(line), AsyncEvent.queue());
  private final TrainSender sender =
      new TrainSender(
          arena, (level, line) -> lines.add(line), PacketGate.OPEN, null, trains, failures);
  private final @Nullable PagePipe pages = PagePipe.open(arena, System.getProperty("os.version"));
  private final TrainSender zeroCopySender =
      new TrainSender(
          arena, (level, line) -> lines.add(line), PacketGate.OPEN, pages, trains, failures);
  private final DatagramReceiver receiver = new DatagramReceiver(arena);
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

  /* Returns a UDP-Lite socket bound to a loopback port. UDP-Lite has its own ports. */
  private UdpSocket udpLiteSocket() throws Exception {
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
    return closedAfterTest(new UdpSocket(fd, here, port));
  }

  private UdpSocket closedAfterTest(UdpSocket socket) {
    sockets.add(socket);
    return socket;
  }

  private void send(UdpSocket socket) {
    assertTrue(sender.send(socket, train, PACKET * PACKETS, PACKET));
  }

  /* Receives a train and returns each packet's first byte, such as "0 1 2 3". */
  private String received(UdpSocket socket) throws InterruptedException {
    StringBuilder text = new StringBuilder();
    int packets = 0;
    for (int tries = 0; packets < PACKETS && tries < 2000; tries++) {
      int datagrams = Math.max(0, receiver.receive(socket.fd()));
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
  void unsegmentablePathIsSlowAloneAndLoggedOnce() throws Exception {
    UdpSocket slowTo = udpLiteSocket();
    UdpSocket slow = udpLiteSocket();
    slow.connect(here, 0, slowTo.port());
    UdpSocket sibling = udpLiteSocket();
    sibling.connect(here, 0, slowTo.port());
    UdpSocket fastTo = closedAfterTest(UdpSocket.bind(here, 0, 0, true));
    UdpSocket fast = closedAfterTest(UdpSocket.bind(here, 0, 0, false));
    fast.connect(here, 0, fastTo.port());

    send(slow);
    assertEquals("0 1 2 3", received(slowTo), "nothing of the refused train is lost");
    send(slow);
    assertEquals("0 1 2 3", received(slowTo));
    send(sibling);
    assertEquals("0 1 2 3", received(slowTo));
    assertFalse(slow.isSegmenting());
    assertEquals(1, lines.size(), lines.toString());
    assertTrue(lines.getFirst().contains("127.0.0.1"), lines.toString());

    send(fast);
    assertTrue(fast.isSegmenting());
    Deadline deadline = Deadline.ofSeconds(2);
    int datagrams = 0;
    while (datagrams <= 0 && !deadline.isOver()) {
      datagrams = receiver.receive(fastTo.fd());
    }
    assertEquals(1, datagrams, "one train, still in one piece");
    assertEquals(PACKET * PACKETS, receiver.lengthBytes(0));
    assertEquals(PACKET, receiver.strideBytes(0));
    assertEquals(1, lines.size(), lines.toString());
  }

  private UdpSocket[] path() {
    UdpSocket to = closedAfterTest(UdpSocket.bind(here, 0, 0, true));
    UdpSocket from = closedAfterTest(UdpSocket.bind(here, 0, 0, false));
    from.connect(here, 0, to.port());
    return new UdpSocket[] {from, to};
  }

  /* Returns the address of packets in which every byte is the packet's number. */
  private long zeroCopyTrain(int packetBytes, int packets) {
    long at = Memory.allocate(arena, (long) packetBytes * packets, PagePipe.PAGE_BYTES);
    for (int i = 0; i < packetBytes * packets; i++) {
      Memory.ALL.set(java.lang.foreign.ValueLayout.JAVA_BYTE, at + i, (byte) (i / packetBytes));
    }
    return at;
  }

  /* Sends a retained train and returns its outcome. */
  private PacketOutlet.Outcome sendRetained(UdpSocket socket, long address, int bytes, int packet) {
    return zeroCopySender.sendRetained(socket, address, bytes, packet);
  }

  private void assertCounted(long zeroCopy, long copied) {
    Map<String, Long> counted = new HashMap<>();
    trains.read(counted::put);
    assertEquals(Map.of("trains_zero_copy", zeroCopy, "trains_copied", copied), counted);
  }

  private void assumeZeroCopy() {
    if (pages == null) {
      String why = "this kernel copies what comes out of a pipe";
      System.out.println("skipped: " + why);
      Assumptions.abort(why);
    }
  }

  /*
   * Receives this many bytes and returns the lengths of their packets. Checks that all bytes of a
   * packet are equal.
   */
  private List<Integer> lengths(UdpSocket socket, int bytes) throws InterruptedException {
    List<Integer> all = new ArrayList<>();
    int got = 0;
    for (int tries = 0; got < bytes && tries < 2000; tries++) {
      int datagrams = Math.max(0, receiver.receive(socket.fd()));
      for (int i = 0; i < datagrams; i++) {
        int length = receiver.lengthBytes(i);
        for (int at = 0; at < length; at += receiver.strideBytes(i)) {
          int packet = Math.min(receiver.strideBytes(i), length - at);
          byte mark =
              Memory.ALL.get(java.lang.foreign.ValueLayout.JAVA_BYTE, receiver.address(i) + at);
          for (int each = 0; each < packet; each++) {
            assertEquals(
                mark,
                Memory.ALL.get(
                    java.lang.foreign.ValueLayout.JAVA_BYTE, receiver.address(i) + at + each));
          }
          all.add(packet);
        }
        got += length;
      }
      if (datagrams == 0) {
        Thread.sleep(1);
      }
    }
    return all;
  }

  @Test
  void zeroCopyTrainArrivesAndNextKeepsItsSize() throws Exception {
    assumeZeroCopy();
    UdpSocket[] path = path();
    int packet = 8740;
    long wide = zeroCopyTrain(packet, 7);
    assertEquals(Outcome.ZERO_COPY, sendRetained(path[0], zeroCopyTrain(4132, 9), 9 * 4132, 4132));
    assertEquals(9, lengths(path[1], 9 * 4132).size(), "before the path is probed it is narrow");
    assertEquals(Outcome.ZERO_COPY, sendRetained(path[0], wide, 7 * packet - 100, packet));
    assertEquals(
        List.of(packet, packet, packet, packet, packet, packet, packet - 100),
        lengths(path[1], 7 * packet - 100));

    long narrow = zeroCopyTrain(4132, 8);
    assertEquals(
        Outcome.SENT, sendRetained(path[0], narrow, 8 * 4132, 4132), "else each changes the size");
    assertEquals(8, lengths(path[1], 8 * 4132).size());
    assertEquals(Outcome.ZERO_COPY, sendRetained(path[0], wide, 7 * packet, packet));
    assertEquals(7, lengths(path[1], 7 * packet).size());

    assertTrue(zeroCopySender.send(path[0], wide, packet, packet));
    assertEquals(List.of(packet), lengths(path[1], packet), "one packet is never cut");
    assertTrue(zeroCopySender.send(path[0], train, PACKET * 2, PACKET));
    assertEquals(List.of(PACKET, PACKET), lengths(path[1], PACKET * 2));
    assertTrue(zeroCopySender.send(path[0], train, 20, 20));
    assertEquals(List.of(20), lengths(path[1], 20));
    assertCounted(3, 1);
  }

  @Test
  void smallOrUnalignedTrainIsCopied() throws Exception {
    assumeZeroCopy();
    UdpSocket[] path = path();
    long alignedTrain = zeroCopyTrain(8740, 7);
    assertEquals(Outcome.SENT, sendRetained(path[0], train, PACKET * PACKETS, PACKET));
    assertEquals("0 1 2 3", received(path[1]));
    assertEquals(Outcome.SENT, sendRetained(path[0], alignedTrain + 8740, 6 * 8740, 8740));
    assertEquals(6, lengths(path[1], 6 * 8740).size());
    assertEquals(
        Outcome.SENT, sender.sendRetained(path[0], alignedTrain, 7 * 8740, 8740), "without a pipe");
    assertEquals(7, lengths(path[1], 7 * 8740).size());
    assertEquals(0, path[0].defaultSegmentBytes());
    assertCounted(0, 2);
  }

  @Test
  void unsegmentablePathGetsSinglePackets() throws Exception {
    assumeZeroCopy();
    UdpSocket slowTo = udpLiteSocket();
    UdpSocket slow = udpLiteSocket();
    slow.connect(here, 0, slowTo.port());
    int packet = 8740;
    long alignedTrain = zeroCopyTrain(packet, 7);
    assertEquals(Outcome.SENT, sendRetained(slow, alignedTrain, 7 * packet, packet));
    assertEquals(0, slow.defaultSegmentBytes(), "else nothing would leave by it any more");
    assertEquals(7, lengths(slowTo, 7 * packet).size());
    assertCounted(0, 1);

    UdpSocket[] path = path();
    assertEquals(
        Outcome.ZERO_COPY, sendRetained(path[0], zeroCopyTrain(packet, 5), 5 * packet, packet));
    assertEquals(5, lengths(path[1], 5 * packet).size());
    assertCounted(1, 1);
  }

  @Test
  void unsentTrainDoesNotPrecedeNext() throws Exception {
    assumeZeroCopy();
    UdpSocket[] path = path();
    int packet = 8740;
    UdpSocket unconnected = closedAfterTest(UdpSocket.bind(here, 0, 0, false));
    assertEquals(
        Outcome.SENT, sendRetained(unconnected, zeroCopyTrain(packet, 7), 7 * packet, packet));
    assertEquals(
        Outcome.ZERO_COPY, sendRetained(path[0], zeroCopyTrain(packet, 6), 6 * packet, packet));
    assertEquals(6, lengths(path[1], 6 * packet).size());
  }
}
