package io.heddle.gateway;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.LinuxCalls;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.testing.Deadline;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;

/**
 * Capture of the packets that reach the far gateway from each P node, by packet sockets
 * (packet(7)). It records the outer flow label, and from the inner packet the UDP port, the queue
 * pair and the packet's number.
 */
final class WanCapture implements AutoCloseable {
  /**
   * Captured packet.
   *
   * @param path number of the P node on its path, 1 to 3
   * @param label flow label in the outer header
   * @param port UDP destination port of the inner packet
   * @param queuePair queue pair of a RoCE packet; the same bytes of any other packet
   * @param number number that the sender gave the packet
   */
  record Sighting(int path, int label, int port, int queuePair, long number) {}

  private static final int AF_PACKET = 17;
  private static final int SOCK_RAW = 3;
  private static final int MSG_DONTWAIT = 0x40;
  private static final int ETHERTYPE_IPV6 = 0x86dd;
  private static final int SOCKADDR_LL_BYTES = 20;
  private static final int FRAME_BYTES = 9216;
  private static final int ROUTING_HEADER = 43;
  private static final int IPV6_BYTES = 40;
  private static final int IPV4_BYTES = 20;
  private static final short STAMP = 862;

  private final List<Sighting> sightings = new ArrayList<>();
  private final FutureTask<Void> task;
  private volatile boolean closed;
  private volatile boolean ready;

  WanCapture(NetworkNamespace gw2) {
    task =
        new FutureTask<>(() -> {
          gw2.enter();
          return read();
        });
    Thread.ofPlatform().name("capture").daemon().start(task);
    Deadline deadline = Deadline.ofSeconds(20);
    while (!ready) {
      assertTrue(!deadline.isOver() && !task.isDone(), "the capture doesn't begin");
      Thread.onSpinWait();
    }
  }

  private Void read() throws InterruptedException {
    int[] fds = new int[WanTopology.PATHS];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment frame = arena.allocate(FRAME_BYTES, 8);
      for (int i = 0; i < fds.length; i++) {
        fds[i] = open(arena, "e" + (i + 1));
      }
      ready = true;
      while (!closed) {
        int read = 0;
        for (int i = 0; i < fds.length; i++) {
          long length;
          while ((length =
                  LinuxCalls.recv(
                      LinuxCalls.errnoCapture(),
                      fds[i],
                      frame.address(),
                      FRAME_BYTES,
                      MSG_DONTWAIT))
              > 0) {
            read++;
            note(i + 1, frame.asSlice(0, length).asByteBuffer());
          }
        }
        if (read == 0) {
          Thread.sleep(1);
        }
      }
      return null;
    } finally {
      for (int fd : fds) {
        LinuxCalls.close(fd);
      }
    }
  }

  private static int open(Arena arena, String device) {
    short protocol = Short.reverseBytes((short) ETHERTYPE_IPV6);
    int fd = LinuxCalls.socket(AF_PACKET, SOCK_RAW, protocol & 0xffff);
    MemorySegment address = arena.allocate(SOCKADDR_LL_BYTES, 4);
    address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_PACKET);
    address.set(ValueLayout.JAVA_SHORT, 2, protocol);
    address.set(ValueLayout.JAVA_INT, 4, LinuxCalls.interfaceIndex(device));
    LinuxCalls.setIntOption(fd, 1, 33 /* SO_RCVBUFFORCE */, 16 << 20);
    int bound = LinuxCalls.bind(fd, address.address(), SOCKADDR_LL_BYTES);
    if (fd < 0 || bound < 0) {
      throw new IllegalStateException("no packet socket on " + device + ": " + fd + " " + bound);
    }
    return fd;
  }

  /* Ethernet 14 | IPv6 40 | SRH | IPv6 40 or IPv4 20 | UDP 8 | BTH 12 | number 8 */
  private void note(int path, ByteBuffer frame) {
    if (frame.capacity() < 14 + IPV6_BYTES || frame.get(14 + 6) != ROUTING_HEADER) {
      return;
    }
    int routing = 14 + IPV6_BYTES;
    int inner = routing + 8 + 8 * (frame.get(routing + 1) & 0xff);
    if (frame.capacity() <= inner) {
      return;
    }
    int udp = inner + ((frame.get(inner) & 0xf0) == 0x40 ? IPV4_BYTES : IPV6_BYTES);
    if (frame.capacity() < udp + 28 || frame.getShort(udp + 2) == STAMP) {
      return;
    }
    Sighting seen =
        new Sighting(
            path,
            frame.getInt(14) & 0xfffff,
            frame.getShort(udp + 2) & 0xffff,
            frame.getInt(udp + 12) & 0xffffff,
            frame.getLong(udp + 20));
    synchronized (sightings) {
      sightings.add(seen);
    }
  }

  /** Returns the captured packets with this number. */
  List<Sighting> seen(long number) {
    synchronized (sightings) {
      return sightings.stream().filter(each -> each.number() == number).toList();
    }
  }

  /** Waits for {@code count} packets with this or a higher number, and returns them. */
  List<Sighting> await(long fromNumber, int count) throws InterruptedException {
    Deadline deadline = Deadline.ofSeconds(30);
    while (true) {
      List<Sighting> found;
      synchronized (sightings) {
        found = sightings.stream().filter(each -> each.number() >= fromNumber).toList();
      }
      if (found.size() >= count) {
        return found;
      }
      assertTrue(
          !deadline.isOver(),
          () -> found.size() + " of " + count + " packets arrived within " + deadline);
      Thread.sleep(2);
    }
  }

  @Override
  public void close() throws Exception {
    closed = true;
    task.get();
  }
}
