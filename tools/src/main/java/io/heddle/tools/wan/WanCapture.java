package io.heddle.tools.wan;

import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.NetworkNamespace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Packet capture at the far gateway, by packet sockets (packet(7)). For each queue pair it records
 * the packets per path, the time of the first packet on each path, and the outer flow labels. A
 * path is a P node.
 */
final class WanCapture implements AutoCloseable {
  /**
   * Captured packets of a queue pair.
   *
   * @param packets number of packets by path, 1 to 3
   * @param firstNs arrival of the first packet by path, by System.nanoTime
   * @param labels flow labels of the outer IPv6 headers
   */
  record Seen(Map<Integer, Long> packets, Map<Integer, Long> firstNs, Set<Integer> labels) {
    private static Seen nothing() {
      return new Seen(new TreeMap<>(), new TreeMap<>(), new TreeSet<>());
    }

    long count() {
      return packets.values().stream().mapToLong(Long::longValue).sum();
    }

    private Seen copy() {
      return new Seen(new TreeMap<>(packets), new TreeMap<>(firstNs), new TreeSet<>(labels));
    }
  }

  private static final int AF_PACKET = 17;
  private static final int SOCK_RAW = 3;
  private static final int SOL_SOCKET = 1;
  private static final int SO_RCVBUFFORCE = 33;
  private static final int BUFFER_BYTES = 16 << 20;
  private static final int MSG_DONTWAIT = 0x40;
  private static final int ETHERTYPE_IPV6 = 0x86dd;
  private static final int SOCKADDR_LL_BYTES = 20;
  private static final int FRAME_BYTES = 9216;
  private static final int ETHERNET_BYTES = 14;
  private static final int IPV6_BYTES = 40;
  private static final int NEXT_HEADER_AT = ETHERNET_BYTES + 6;
  private static final int ROUTING_HEADER = 43;
  private static final int UDP_AND_QUEUE_PAIR_BYTES = 16;
  private static final int START_SECONDS = 60;

  private final Map<Integer, Seen> seen = new TreeMap<>();
  private final CountDownLatch ready = new CountDownLatch(1);
  private final Thread thread;
  private volatile boolean closed;
  private volatile @Nullable RuntimeException failure;

  /**
   * Starts the capture.
   *
   * @param namespace network namespace of the far gateway
   * @throws HeddleException if no packet socket can be opened
   */
  WanCapture(String namespace) throws InterruptedException {
    thread = Thread.ofPlatform().name("wan-capture").daemon().start(() -> run(namespace));
    boolean begun = ready.await(START_SECONDS, TimeUnit.SECONDS);
    check();
    if (!begun) {
      throw new HeddleException("the capture at the far gateway doesn't start");
    }
  }

  private void run(String namespace) {
    try {
      NetworkNamespace.enter(namespace);
      read();
    } catch (RuntimeException failed) {
      failure = failed;
    } finally {
      ready.countDown();
    }
  }

  /* Reads one socket per path until close. Sleeps for 1 ms when no socket has packets. */
  private void read() {
    int[] sockets = new int[WanNodes.PATHS];
    java.util.Arrays.fill(sockets, -1);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment frame = arena.allocate(FRAME_BYTES, 8);
      for (int path = 1; path <= WanNodes.PATHS; path++) {
        sockets[path - 1] = open(arena, "w" + path);
      }
      ready.countDown();
      while (!closed) {
        boolean idle = true;
        for (int path = 1; path <= WanNodes.PATHS; path++) {
          idle &= !drain(sockets[path - 1], path, frame);
        }
        if (idle) {
          TimeUnit.MILLISECONDS.sleep(1);
        }
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    } finally {
      for (int each : sockets) {
        if (each >= 0) {
          LinuxCalls.close(each);
        }
      }
    }
  }

  private boolean drain(int socket, int path, MemorySegment frame) {
    boolean any = false;
    long length;
    while ((length =
            LinuxCalls.recv(
                LinuxCalls.errnoCapture(), socket, frame.address(), FRAME_BYTES, MSG_DONTWAIT))
        > 0) {
      any = true;
      recordFrame(path, frame.asSlice(0, length).asByteBuffer(), System.nanoTime());
    }
    return any;
  }

  private static int open(Arena arena, String device) {
    short protocol = Short.reverseBytes((short) ETHERTYPE_IPV6);
    int socket = LinuxCalls.socket(AF_PACKET, SOCK_RAW, protocol & 0xffff);
    if (socket < 0) {
      throw new HeddleException("no packet socket: error " + -socket + "; it needs CAP_NET_RAW");
    }
    MemorySegment address = arena.allocate(SOCKADDR_LL_BYTES, 4);
    address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_PACKET);
    address.set(ValueLayout.JAVA_SHORT, 2, protocol);
    address.set(ValueLayout.JAVA_INT, 4, LinuxCalls.interfaceIndex(device));
    LinuxCalls.setIntOption(socket, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES);
    int bound = LinuxCalls.bind(socket, address.address(), SOCKADDR_LL_BYTES);
    if (bound < 0) {
      LinuxCalls.close(socket);
      throw new HeddleException("no packet socket on " + device + ": error " + -bound);
    }
    return socket;
  }

  /*
   * Records a frame: Ethernet | IPv6 | SRH | IPv6 | UDP (8 bytes) | BTH (queue pair in the low 24
   * bits of the word at byte 4).
   */
  private void recordFrame(int path, ByteBuffer frame, long nowNs) {
    int routing = ETHERNET_BYTES + IPV6_BYTES;
    if (frame.capacity() < routing + 2 || frame.get(NEXT_HEADER_AT) != ROUTING_HEADER) {
      return;
    }
    int udp = routing + 8 + 8 * (frame.get(routing + 1) & 0xff) + IPV6_BYTES;
    if (frame.capacity() < udp + UDP_AND_QUEUE_PAIR_BYTES) {
      return;
    }
    int label = frame.getInt(ETHERNET_BYTES) & 0xfffff;
    int queuePair = frame.getInt(udp + 12) & 0xffffff;
    synchronized (seen) {
      Seen one = seen.computeIfAbsent(queuePair, any -> Seen.nothing());
      one.packets().merge(path, 1L, Long::sum);
      one.firstNs().putIfAbsent(path, nowNs);
      one.labels().add(label);
    }
  }

  /** Returns the packets of a queue pair that were captured since {@link #clear}. */
  Seen seen(int queuePair) {
    check();
    synchronized (seen) {
      Seen one = seen.get(queuePair);
      return one == null ? Seen.nothing() : one.copy();
    }
  }

  /** Forgets all packets. */
  void clear() {
    synchronized (seen) {
      seen.clear();
    }
  }

  private void check() {
    RuntimeException why = failure;
    if (why != null) {
      throw new HeddleException("the capture at the far gateway failed: " + why.getMessage(), why);
    }
  }

  @Override
  public void close() throws InterruptedException {
    closed = true;
    thread.join();
  }
}
