package io.heddle.cli.paths;

import io.heddle.platform.DatagramCalls;
import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Ipv6Text;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Prober that sends datagrams to UDP port 4791, from one socket for each source port. So it needs
 * no privilege. Replies are ICMPv6 errors (RFC 4443), which Linux adds to the socket's error queue
 * ({@code IPV6_RECVERR}, ipv6(7)).
 *
 * <p>A probe is a RoCEv2 header without a checksum: 12 bytes of BTH to queue pair 0xFFFFFF, then
 * {@code magic 4 | hop 1 | zeros 3}. Any RoCE device drops it.
 */
final class UdpProber implements Prober {
  private static final int AF_INET6 = 10;
  private static final int SOCK_DGRAM_CLOEXEC_NONBLOCK = 2 | 0x80000 | 0x800;
  private static final int IPPROTO_IPV6 = 41;
  private static final int IPV6_UNICAST_HOPS = 16;
  private static final int IPV6_RECVERR = 25;
  private static final int MSG_ERRQUEUE = 0x2000;
  private static final int ORIGIN_ICMP6 = 3;
  private static final int TIME_EXCEEDED = 3;
  private static final int SOCKADDR_BYTES = 28;
  private static final int DESTINATION_PORT = 4791;

  /* BTH: opcode UD SEND ONLY, the default partition, queue pair 0xFFFFFF. */
  private static final int BTH_FIRST = 0x6400_ffff;
  private static final int MAGIC = 0x6865_7061;
  private static final int MAGIC_AT = 12;
  private static final int HOP_AT = 16;
  private static final int PROBE_BYTES = 20;

  /* Offsets in the memory of a call: struct msghdr at 0, then struct iovec, and their buffers. */
  private static final int IOVEC_AT = 56;
  private static final int NAME_AT = IOVEC_AT + 16;
  private static final int PROBE_AT = NAME_AT + 32;
  private static final int CONTROL_AT = PROBE_AT + 64;
  private static final int CONTROL_BYTES = 256;
  private static final int ERROR_AT = CONTROL_AT + 16;
  private static final int OFFENDER_AT = ERROR_AT + 16;
  private static final int TRIES = 4;
  private static final int POLLFD_BYTES = 8;
  private static final long SECOND_NS = 1_000_000_000;

  private final Arena arena = Arena.ofShared();
  private final long memory = Memory.allocate(arena, CONTROL_AT + CONTROL_BYTES, 8);
  private final SortedMap<Integer, Integer> sockets = new TreeMap<>();
  private final Inet6Address from;
  private final Inet6Address to;
  private @Nullable PollArea polled;

  /**
   * Array of the sockets for {@code ppoll}, which reports a socket with a non-empty error queue
   * (POLLERR) even if no events are requested.
   */
  private static final class PollArea {
    private final Arena arena = Arena.ofShared();
    private final int[] ports;
    private final long pollfds;
    private final long timespec = Memory.allocate(arena, 16, 8);

    private PollArea(SortedMap<Integer, Integer> sockets) {
      ports = new int[sockets.size()];
      pollfds = Memory.allocate(arena, Math.max(1L, ports.length) * POLLFD_BYTES, 8);
      int count = 0;
      for (var socket : sockets.entrySet()) {
        ports[count] = socket.getKey();
        Memory.setInt(pollfds + (long) count * POLLFD_BYTES, socket.getValue());
        count++;
      }
    }

    /*
     * Waits until a socket has an error, at most this long. Returns the number of such sockets; 0
     * or a negative errno if there is none.
     */
    private int awaitErrors(long ns) {
      Memory.setLong(timespec, ns / SECOND_NS);
      Memory.setLong(timespec + 8, ns % SECOND_NS);
      return DatagramCalls.poll(LinuxCalls.errnoCapture(), pollfds, ports.length, timespec);
    }

    private boolean isReady(int i) {
      return Memory.ALL.get(Memory.NATIVE_SHORT, pollfds + (long) i * POLLFD_BYTES + 6) != 0;
    }
  }

  UdpProber(Inet6Address from, Inet6Address to) {
    this.from = from;
    this.to = to;
  }

  @Override
  public long nowNs() {
    return System.nanoTime();
  }

  /**
   * Opens a socket that sends from a port.
   *
   * @throws SystemCallException with EADDRINUSE if another program uses the port
   */
  void open(int port) {
    if (sockets.containsKey(port)) {
      return;
    }
    int fd =
        SystemCallException.check(
            "socket(AF_INET6, SOCK_DGRAM)",
            LinuxCalls.socket(AF_INET6, SOCK_DGRAM_CLOEXEC_NONBLOCK, 0));
    try {
      SystemCallException.check(
          "setsockopt(IPV6_RECVERR)", LinuxCalls.setIntOption(fd, IPPROTO_IPV6, IPV6_RECVERR, 1));
      writeName(from, port);
      SystemCallException.check(
          "bind([" + Ipv6Text.of(from.getAddress()) + "]:" + port + ")",
          LinuxCalls.bind(fd, memory + NAME_AT, SOCKADDR_BYTES));
    } catch (RuntimeException failed) {
      LinuxCalls.close(fd);
      throw failed;
    }
    sockets.put(port, fd);
    forgetPollArea();
  }

  /** Closes the socket of a port. */
  void close(int port) {
    Integer fd = sockets.remove(port);
    if (fd != null) {
      LinuxCalls.close(fd);
      forgetPollArea();
    }
  }

  private void writeName(Inet6Address address, int port) {
    long name = memory + NAME_AT;
    Memory.clear(name, SOCKADDR_BYTES);
    Memory.ALL.set(Memory.NATIVE_SHORT, name, (short) AF_INET6);
    Memory.ALL.set(Memory.NETWORK_SHORT, name + 2, (short) port);
    byte[] bytes = address.getAddress();
    for (int i = 0; i < bytes.length; i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, name + 8 + i, bytes[i]);
    }
    Memory.setInt(name + 24, address.getScopeId());
  }

  private void writeHeader(int controlBytes) {
    Memory.clear(memory, IOVEC_AT);
    Memory.setLong(memory, memory + NAME_AT);
    Memory.setInt(memory + 8, SOCKADDR_BYTES);
    Memory.setLong(memory + 16, memory + IOVEC_AT);
    Memory.setLong(memory + 24, 1);
    Memory.setLong(memory + 32, controlBytes == 0 ? 0 : memory + CONTROL_AT);
    Memory.setLong(memory + 40, controlBytes);
    Memory.setLong(memory + IOVEC_AT, memory + PROBE_AT);
    Memory.setLong(memory + IOVEC_AT + 8, controlBytes == 0 ? PROBE_BYTES : 64);
  }

  @Override
  public void send(int port, int hop) {
    Integer fd = sockets.get(port);
    if (fd == null) {
      throw new IllegalStateException("port " + port + " isn't open");
    }
    SystemCallException.check(
        "setsockopt(IPV6_UNICAST_HOPS)",
        LinuxCalls.setIntOption(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, hop));
    writeName(to, DESTINATION_PORT);
    writeHeader(0);
    Memory.clear(memory + PROBE_AT, PROBE_BYTES);
    Memory.ALL.set(Memory.NETWORK_INT, memory + PROBE_AT, BTH_FIRST);
    Memory.ALL.set(Memory.NETWORK_INT, memory + PROBE_AT + 4, 0xff_ffff);
    Memory.ALL.set(Memory.NETWORK_INT, memory + PROBE_AT + MAGIC_AT, MAGIC);
    Memory.ALL.set(ValueLayout.JAVA_BYTE, memory + PROBE_AT + HOP_AT, (byte) hop);
    long sent = 0;
    for (int i = 0; i < TRIES; i++) {
      /* A reply (an ICMP error) to an earlier probe makes the socket's next call fail once. */
      sent = LinuxCalls.sendmsg(LinuxCalls.errnoCapture(), fd, memory, 0);
      if (sent >= 0 || sent == -Errno.EAGAIN || sent == -Errno.ENOBUFS) {
        return; // if the queue is full, the probe counts as lost
      }
    }
    throw new HeddleException(
        "can't send from %s to %s: %s; see ip -6 route get %s"
            .formatted(
                Ipv6Text.of(from.getAddress()),
                Ipv6Text.of(to.getAddress()),
                Errno.describe((int) -sent),
                Ipv6Text.of(to.getAddress())));
  }

  @Override
  public @Nullable Reply receive(long untilNs) {
    PollArea area = pollArea();
    while (true) {
      long left = Math.max(0, untilNs - nowNs());
      Reply reply = area.awaitErrors(left) > 0 ? takeReady(area) : null;
      if (reply != null || left == 0) {
        return reply;
      }
    }
  }

  /* Returns the next reply of the first socket that has one; null if no error was a reply. */
  private @Nullable Reply takeReady(PollArea area) {
    for (int i = 0; i < area.ports.length; i++) {
      if (area.isReady(i)) {
        int port = area.ports[i];
        int fd = sockets.getOrDefault(port, -1);
        Reply reply = take(port, fd);
        if (reply != null) {
          return reply;
        }
        /*
         * The socket has a pending error that isn't in its error queue. It would end each wait at
         * once; this call clears it.
         */
        LinuxCalls.recvmsg(LinuxCalls.errnoCapture(), fd, memory, 0);
      }
    }
    return null;
  }

  private PollArea pollArea() {
    PollArea area = polled;
    if (area == null) {
      area = new PollArea(sockets);
      polled = area;
    }
    return area;
  }

  private void forgetPollArea() {
    PollArea area = polled;
    polled = null;
    if (area != null) {
      area.arena.close();
    }
  }

  /* Returns the next queued error that replies to a probe; null if there is none. */
  private @Nullable Reply take(int port, int fd) {
    while (true) {
      writeHeader(CONTROL_BYTES);
      long bytes = LinuxCalls.recvmsg(LinuxCalls.errnoCapture(), fd, memory, MSG_ERRQUEUE);
      if (bytes < 0) {
        return null;
      }
      int level = Memory.getInt(memory + CONTROL_AT + 8);
      int type = Memory.getInt(memory + CONTROL_AT + 12);
      int origin = Memory.ALL.get(ValueLayout.JAVA_BYTE, memory + ERROR_AT + 4);
      if (Memory.getLong(memory + 40) > 0
          && level == IPPROTO_IPV6
          && type == IPV6_RECVERR
          && origin == ORIGIN_ICMP6
          && bytes >= PROBE_BYTES
          && Memory.ALL.get(Memory.NETWORK_INT, memory + PROBE_AT + MAGIC_AT) == MAGIC) {
        int hop = Memory.ALL.get(ValueLayout.JAVA_BYTE, memory + PROBE_AT + HOP_AT) & 0xff;
        int icmp = Memory.ALL.get(ValueLayout.JAVA_BYTE, memory + ERROR_AT + 5);
        return new Reply(
            port,
            hop,
            Ipv6Text.of(Memory.toArray(memory + OFFENDER_AT + 8, 16)),
            icmp != TIME_EXCEEDED);
      }
    }
  }

  @Override
  public void close() {
    sockets.values().forEach(LinuxCalls::close);
    sockets.clear();
    forgetPollArea();
    arena.close();
  }

  /** Returns the open ports. */
  List<Integer> ports() {
    return List.copyOf(sockets.keySet());
  }
}
