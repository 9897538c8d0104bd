package io.heddle.gateway.probe;

import io.heddle.addr.AddressText;
import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/**
 * UDP socket over IPv6 that marks its packets and returns the hop limit of received ones. Used by
 * one thread.
 *
 * <pre>
 * memory: msghdr 56 @0 | iovec 16 @64 | sockaddr_in6 28 @96 | control 64 @128 | payload 2048 @256
 * </pre>
 */
final class StampSocket implements AutoCloseable {
  private static final int AF_INET6 = 10;
  private static final int SOCK_DGRAM = 2;
  private static final int NONBLOCK_CLOEXEC = 0x800 | 0x80000;
  private static final int SOL_SOCKET = 1;
  private static final int SO_MARK = 36;
  private static final int SOL_IPV6 = 41;
  private static final int IPV6_UNICAST_HOPS = 16;
  private static final int IPV6_V6ONLY = 26;
  private static final int IPV6_RECVHOPLIMIT = 51;
  private static final int MOST_HOPS = 255;
  private static final int NAME_BYTES = 28;
  private static final int IOVEC_AT = 64;
  private static final int NAME_AT = 96;
  private static final int CONTROL_AT = 128;
  private static final int CONTROL_BYTES = 64;
  private static final int CONTROL_VALUE_AT = 16;
  private static final int PAYLOAD_AT = 256;
  private static final int PAYLOAD_BYTES = 2048;

  private final Arena arena = Arena.ofShared();
  private final long memory = Memory.allocate(arena, PAYLOAD_AT + PAYLOAD_BYTES, 64);
  private final int fd;

  private StampSocket(int fd) {
    this.fd = fd;
  }

  private static StampSocket open() {
    int fd = LinuxCalls.socket(AF_INET6, SOCK_DGRAM | NONBLOCK_CLOEXEC, 0);
    if (fd < 0) {
      throw new SystemCallException("socket(AF_INET6, SOCK_DGRAM)", -fd);
    }
    StampSocket socket = new StampSocket(fd);
    socket.option("IPV6_V6ONLY", SOL_IPV6, IPV6_V6ONLY, 1);
    /*
     * RFC 8762, 4.1: packets are sent with hop limit 255, so that the receiver can count the hops.
     */
    socket.option("IPV6_UNICAST_HOPS", SOL_IPV6, IPV6_UNICAST_HOPS, MOST_HOPS);
    return socket;
  }

  /**
   * Opens a socket that sends marked packets from this address to one reflector.
   *
   * @throws SystemCallException if the address isn't this host's, or the privilege is missing
   */
  static StampSocket sender(InetAddress source, InetAddress reflector, int port, int mark) {
    StampSocket socket = open();
    try {
      socket.option("SO_MARK", SOL_SOCKET, SO_MARK, mark);
      socket.name(source, 0);
      socket.check(
          "bind to " + AddressText.of(source),
          LinuxCalls.bind(socket.fd, socket.memory + NAME_AT, NAME_BYTES));
      socket.name(reflector, port);
      socket.check(
          "connect to " + AddressText.of(reflector),
          LinuxCalls.connect(socket.fd, socket.memory + NAME_AT, NAME_BYTES));
      return socket;
    } catch (RuntimeException failed) {
      socket.close();
      throw failed;
    }
  }

  /** Opens a socket that receives all packets to a port of this address. */
  static StampSocket reflector(InetAddress address, int port) {
    StampSocket socket = open();
    try {
      socket.option("IPV6_RECVHOPLIMIT", SOL_IPV6, IPV6_RECVHOPLIMIT, 1);
      socket.name(address, port);
      socket.check(
          "bind to " + AddressText.of(address) + " port " + port,
          LinuxCalls.bind(socket.fd, socket.memory + NAME_AT, NAME_BYTES));
      return socket;
    } catch (RuntimeException failed) {
      socket.close();
      throw failed;
    }
  }

  private void option(String name, int level, int option, int value) {
    check("setsockopt(" + name + ")", LinuxCalls.setIntOption(fd, level, option, value));
  }

  private void check(String call, int result) {
    if (result < 0) {
      throw new SystemCallException(call, -result);
    }
  }

  /* Writes a sockaddr_in6: family 2 | port 2 | flow 4 | address 16 | scope 4 bytes. */
  private void name(InetAddress address, int port) {
    ByteBuffer name = payload(NAME_AT, NAME_BYTES);
    for (int i = 0; i < NAME_BYTES; i++) {
      name.put(i, (byte) 0);
    }
    Memory.ALL.set(Memory.NATIVE_SHORT, memory + NAME_AT, (short) AF_INET6);
    name.putShort(2, (short) port).put(8, address.getAddress());
  }

  private ByteBuffer payload(int at, int length) {
    return Memory.ALL.asSlice(memory + at, length).asByteBuffer();
  }

  int fileDescriptor() {
    return fd;
  }

  /** Sends to the connected address. Returns whether the kernel accepted the packet. */
  boolean send(byte[] packet) {
    payload(PAYLOAD_AT, packet.length).put(packet);
    return LinuxCalls.send(LinuxCalls.errnoCapture(), fd, memory + PAYLOAD_AT, packet.length, 0)
        == packet.length;
  }

  /**
   * Returns the next received packet, or null if there is none. Skips ICMPv6 errors about sent
   * packets.
   */
  @org.jspecify.annotations.Nullable
  ByteBuffer receive() {
    for (int i = 0; i < IOVEC_AT; i += Long.BYTES) {
      Memory.ALL.set(Memory.NATIVE_LONG, memory + i, 0L);
    }
    Memory.ALL.set(Memory.NATIVE_LONG, memory, memory + NAME_AT);
    Memory.ALL.set(Memory.NATIVE_INT, memory + 8, NAME_BYTES);
    Memory.ALL.set(Memory.NATIVE_LONG, memory + 16, memory + IOVEC_AT);
    Memory.ALL.set(Memory.NATIVE_LONG, memory + 24, 1L);
    Memory.ALL.set(Memory.NATIVE_LONG, memory + 32, memory + CONTROL_AT);
    Memory.ALL.set(Memory.NATIVE_LONG, memory + 40, (long) CONTROL_BYTES);
    Memory.ALL.set(Memory.NATIVE_LONG, memory + IOVEC_AT, memory + PAYLOAD_AT);
    Memory.ALL.set(Memory.NATIVE_LONG, memory + IOVEC_AT + 8, (long) PAYLOAD_BYTES);
    long length;
    do {
      length = LinuxCalls.recvmsg(LinuxCalls.errnoCapture(), fd, memory, 0);
    } while (length == -Errno.EINTR
        || length == -Errno.ECONNREFUSED
        || length == -Errno.EHOSTUNREACH);
    return length < 0 ? null : payload(PAYLOAD_AT, (int) length);
  }

  /** Returns the hop limit of the last received packet; 0 if the kernel gave none. */
  int hopLimit() {
    long control = Memory.ALL.get(Memory.NATIVE_LONG, memory + 40);
    return control <= CONTROL_VALUE_AT
        ? 0
        : Memory.ALL.get(Memory.NATIVE_INT, memory + CONTROL_AT + CONTROL_VALUE_AT);
  }

  /**
   * Sends to the source of the last received packet. Returns whether the kernel accepted the
   * packet.
   */
  boolean sendBack(byte[] packet) {
    payload(PAYLOAD_AT, packet.length).put(packet);
    Memory.ALL.set(Memory.NATIVE_LONG, memory + 32, 0L);
    Memory.ALL.set(Memory.NATIVE_LONG, memory + 40, 0L);
    Memory.ALL.set(Memory.NATIVE_INT, memory + 48, 0);
    Memory.ALL.set(Memory.NATIVE_LONG, memory + IOVEC_AT + 8, (long) packet.length);
    return LinuxCalls.sendmsg(LinuxCalls.errnoCapture(), fd, memory, 0) == packet.length;
  }

  @Override
  public void close() {
    LinuxCalls.close(fd);
    arena.close();
  }
}
