package io.heddle.bgp.net;

import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * UDP socket over IPv6 or (by mapped addresses) IPv4, or raw ICMPv6 socket. It reports each
 * packet's source, interface and hop limit. For the loop's thread.
 *
 * <pre>
 * native memory, in bytes @ offset:
 *   msghdr 56 @0 | iovec 16 @64 | name 28 @96 | control 256 @128 | payload @512
 * </pre>
 */
public final class DatagramSocket6 implements AutoCloseable {
  /** Result of {@link #receive} if no packet waits. */
  public static final int NOTHING = -1;

  private static final int SOCK_DGRAM = 2;
  private static final int SOCK_RAW = 3;
  private static final int SOCK_CLOEXEC_NONBLOCK = 0x80000 | 0x800;
  private static final int IPPROTO_ICMPV6 = 58;
  private static final int SOL_SOCKET = 1;
  private static final int SO_REUSEADDR = 2;
  private static final int SO_BINDTODEVICE = 25;
  private static final int SOL_IP = 0;
  private static final int IP_TOS = 1;
  private static final int IP_TTL = 2;
  private static final int IP_RECVTTL = 12;
  private static final int SOL_IPV6 = 41;
  private static final int SOL_ICMPV6 = 58;
  private static final int ICMPV6_FILTER = 1;
  private static final int IPV6_UNICAST_HOPS = 16;
  private static final int IPV6_MULTICAST_IF = 17;
  private static final int IPV6_MULTICAST_HOPS = 18;
  private static final int IPV6_MULTICAST_LOOP = 19;
  private static final int IPV6_V6ONLY = 26;
  private static final int IPV6_RECVPKTINFO = 49;
  private static final int IPV6_PKTINFO = 50;
  private static final int IPV6_RECVHOPLIMIT = 51;
  private static final int IPV6_HOPLIMIT = 52;
  private static final int IPV6_TCLASS = 67;
  private static final int NETWORK_CONTROL = 0xc0;
  private static final int MOST_HOPS = 255;

  private static final int IOVEC_AT = 64;
  private static final int NAME_AT = 96;
  private static final int CONTROL_AT = 128;
  private static final int CONTROL_BYTES = 256;
  private static final int CONTROL_HEADER_BYTES = 16;
  private static final int PAYLOAD_AT = 512;
  private static final int PAYLOAD_BYTES = 2048;

  private final EventLoop loop;
  private final Arena arena = Arena.ofShared();
  private final long memory = Memory.allocate(arena, PAYLOAD_AT + PAYLOAD_BYTES, 64);
  private final int fd;
  private Endpoint local = Endpoint.anyAddress(0);
  private Endpoint source = Endpoint.anyAddress(0);
  private int hopLimit;
  private int interfaceIndex;
  private boolean closed;

  private DatagramSocket6(EventLoop loop, int fd) {
    this.loop = loop;
    this.fd = fd;
  }

  /**
   * Opens a UDP socket that sends with hop limit 255.
   *
   * @param device interface that the socket's packets must use; empty for any
   * @throws SystemCallException if the port is in use
   */
  public static DatagramSocket6 udp(EventLoop loop, Endpoint local, String device) {
    DatagramSocket6 socket = create(loop, SOCK_DGRAM, 0, device);
    try {
      if (local.isIpv4()) {
        socket.setOption(IPV6_V6ONLY, 0);
        socket.setIpv4Option(IP_TTL, MOST_HOPS);
        socket.setIpv4Option(IP_TOS, NETWORK_CONTROL);
        socket.setIpv4Option(IP_RECVTTL, 1);
      }
      local.write(socket.memory + NAME_AT);
      socket.check(
          "bind to " + local,
          LinuxCalls.bind(socket.fd, socket.memory + NAME_AT, Endpoint.SOCKADDR_BYTES));
      socket.local = local;
      return socket;
    } catch (RuntimeException failure) {
      socket.close();
      throw failure;
    }
  }

  /**
   * Opens a raw socket for one type of ICMPv6 message on one interface. The kernel computes
   * checksums.
   *
   * @throws SystemCallException with EPERM without CAP_NET_RAW
   */
  public static DatagramSocket6 icmp(EventLoop loop, String device, int index, int type) {
    DatagramSocket6 socket = create(loop, SOCK_RAW, IPPROTO_ICMPV6, device);
    try {
      /* ICMPV6_FILTER has a bit for each type; a set bit blocks that type. */
      long filter = socket.memory + NAME_AT;
      for (int i = 0; i < 8; i++) {
        int word = i == type >>> 5 ? ~(1 << (type & 31)) : -1;
        Memory.ALL.set(Memory.NATIVE_INT, filter + 4L * i, word);
      }
      socket.check(
          "setsockopt(ICMPV6_FILTER)",
          LinuxCalls.setsockopt(socket.fd, SOL_ICMPV6, ICMPV6_FILTER, filter, 32));
      socket.setOption(IPV6_MULTICAST_IF, index);
      socket.setOption(IPV6_MULTICAST_HOPS, MOST_HOPS);
      socket.setOption(IPV6_MULTICAST_LOOP, 0);
      return socket;
    } catch (RuntimeException failure) {
      socket.close();
      throw failure;
    }
  }

  private static DatagramSocket6 create(EventLoop loop, int type, int protocol, String device) {
    int fd = LinuxCalls.socket(Endpoint.AF_INET6, type | SOCK_CLOEXEC_NONBLOCK, protocol);
    if (fd < 0) {
      throw new SystemCallException(
          type == SOCK_RAW ? "socket(AF_INET6, SOCK_RAW, ICMPv6)" : "socket(AF_INET6, SOCK_DGRAM)",
          -fd);
    }
    DatagramSocket6 socket = new DatagramSocket6(loop, fd);
    try {
      if (type == SOCK_DGRAM) {
        LinuxCalls.setIntOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
        socket.setOption(IPV6_V6ONLY, 1);
      }
      socket.setOption(IPV6_UNICAST_HOPS, MOST_HOPS);
      socket.setOption(IPV6_TCLASS, NETWORK_CONTROL);
      socket.setOption(IPV6_RECVPKTINFO, 1);
      socket.setOption(IPV6_RECVHOPLIMIT, 1);
      if (!device.isEmpty()) {
        byte[] name = device.getBytes(StandardCharsets.UTF_8);
        MemorySegment.copy(
            MemorySegment.ofArray(name), 0, Memory.ALL, socket.memory + NAME_AT, name.length);
        socket.check(
            "setsockopt(SO_BINDTODEVICE, " + device + ")",
            LinuxCalls.setsockopt(
                fd, SOL_SOCKET, SO_BINDTODEVICE, socket.memory + NAME_AT, name.length));
      }
      return socket;
    } catch (RuntimeException failure) {
      socket.close();
      throw failure;
    }
  }

  private void setIpv4Option(int option, int value) {
    check(
        "setsockopt(IPPROTO_IP, " + option + ")",
        LinuxCalls.setIntOption(fd, SOL_IP, option, value));
  }

  private void setOption(int option, int value) {
    check(
        "setsockopt(IPPROTO_IPV6, " + option + ")",
        LinuxCalls.setIntOption(fd, SOL_IPV6, option, value));
  }

  private void check(String call, int result) {
    if (result < 0) {
      throw new SystemCallException(call, -result);
    }
  }

  public int fd() {
    return fd;
  }

  /** Returns the bound address; the IPv6 wildcard if not bound. */
  public Endpoint local() {
    return local;
  }

  /**
   * Receives one packet; {@link #source} and the other getters then describe it.
   *
   * @return number of bytes written to the array, at most its size; {@link #NOTHING} if no packet
   *     waits
   */
  public int receive(byte[] into) {
    header(Endpoint.SOCKADDR_BYTES, PAYLOAD_BYTES, CONTROL_BYTES);
    long got = LinuxCalls.recvmsg(LinuxCalls.errnoCapture(), fd, memory, 0);
    if (got < 0) {
      return NOTHING;
    }
    source = Endpoint.read(memory + NAME_AT);
    hopLimit = -1;
    interfaceIndex = 0;
    readControl(Memory.ALL.get(Memory.NATIVE_LONG, memory + 40));
    int length = (int) Math.min(got, into.length);
    MemorySegment.copy(Memory.ALL, memory + PAYLOAD_AT, MemorySegment.ofArray(into), 0, length);
    return length;
  }

  private void readControl(long controlBytes) {
    long at = memory + CONTROL_AT;
    long end = at + controlBytes;
    while (at + CONTROL_HEADER_BYTES <= end) {
      long length = Memory.ALL.get(Memory.NATIVE_LONG, at);
      int level = Memory.ALL.get(Memory.NATIVE_INT, at + 8);
      int type = Memory.ALL.get(Memory.NATIVE_INT, at + 12);
      if (length < CONTROL_HEADER_BYTES) {
        return;
      }
      boolean tellsHops = level == SOL_IPV6 ? type == IPV6_HOPLIMIT : type == IP_TTL;
      if ((level == SOL_IPV6 || level == SOL_IP) && tellsHops) {
        hopLimit = Memory.ALL.get(Memory.NATIVE_INT, at + CONTROL_HEADER_BYTES);
      } else if (level == SOL_IPV6 && type == IPV6_PKTINFO) {
        interfaceIndex = Memory.ALL.get(Memory.NATIVE_INT, at + CONTROL_HEADER_BYTES + 16);
      }
      at += length + 7 & ~7L;
    }
  }

  private void header(int nameBytes, int payloadBytes, int controlBytes) {
    Memory.clear(memory, IOVEC_AT);
    Memory.ALL.set(Memory.NATIVE_LONG, memory, memory + NAME_AT);
    Memory.ALL.set(Memory.NATIVE_INT, memory + 8, nameBytes);
    Memory.ALL.set(Memory.NATIVE_LONG, memory + 16, memory + IOVEC_AT);
    Memory.ALL.set(Memory.NATIVE_LONG, memory + 24, 1L);
    Memory.ALL.set(Memory.NATIVE_LONG, memory + 32, controlBytes == 0 ? 0L : memory + CONTROL_AT);
    Memory.ALL.set(Memory.NATIVE_LONG, memory + 40, (long) controlBytes);
    Memory.ALL.set(Memory.NATIVE_LONG, memory + IOVEC_AT, memory + PAYLOAD_AT);
    Memory.ALL.set(Memory.NATIVE_LONG, memory + IOVEC_AT + 8, (long) payloadBytes);
  }

  /** Returns the last packet's source. */
  public Endpoint source() {
    return source;
  }

  /** Returns the last packet's hop limit; −1 if the kernel didn't report it. */
  public int hopLimit() {
    return hopLimit;
  }

  /** Returns the interface on which the last packet arrived. */
  public int interfaceIndex() {
    return interfaceIndex;
  }

  /**
   * Sends a packet. Returns 0, or the kernel's errno. A packet for which the send buffer has no
   * space is dropped; the result is then 0 too.
   */
  public int send(byte[] packet, Endpoint to) {
    header(Endpoint.SOCKADDR_BYTES, packet.length, 0);
    to.write(memory + NAME_AT);
    MemorySegment.copy(
        MemorySegment.ofArray(packet), 0, Memory.ALL, memory + PAYLOAD_AT, packet.length);
    long sent = LinuxCalls.sendmsg(LinuxCalls.errnoCapture(), fd, memory, 0);
    return sent < 0 && sent != -Errno.EAGAIN ? (int) -sent : 0;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      loop.unregister(fd);
      LinuxCalls.close(fd);
      arena.close();
    }
  }
}
