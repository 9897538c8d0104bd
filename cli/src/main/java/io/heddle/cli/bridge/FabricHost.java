package io.heddle.cli.bridge;

import io.heddle.platform.DatagramCalls;
import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.HeaderChecksum;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * Host of a fabric from an application's view: it sends numbered payloads to multicast groups and
 * checks those that it receives. It has a UDP socket of its own and shares only the formats with
 * the bridge.
 *
 * <pre>
 *  0       8        12      16          24
 * |"HEDDLE"|sender  |group  |number     |bytes derived from the number ...
 * </pre>
 */
public final class FabricHost implements AutoCloseable {
  /** Minimum length of a payload. */
  public static final int LEAST_PAYLOAD_BYTES = 24;

  public static final int MOST_PAYLOAD_BYTES = 4096;

  private static final long MARK = 0x4845_4444_4c45_0001L;
  private static final int QUEUE_KEY = 0x0123_4567;
  private static final int AF_INET6 = 10;
  private static final int SOCK_DGRAM_CLOEXEC_NONBLOCK = 2 | 0x80000 | 0x800;
  private static final int SOCKADDR_BYTES = 28;
  private static final int BUFFER_BYTES = 1 << 17;
  private static final int CONTROL_BYTES = 64;
  private static final int SO_TIMESTAMPNS = 35;
  private static final int IP_MULTICAST_TTL = 33;
  private static final int IPV6_MULTICAST_HOPS = 18;
  private static final int SO_BINDTODEVICE = 25;
  private static final long SECOND_NS = 1_000_000_000L;

  private final int bufferBytes;
  private int number;
  private final int port;
  private final @Nullable Gid ipv4;
  private final @Nullable Gid ipv6;
  private final Arena arena = Arena.ofShared();
  private final int fd;
  private final int index;
  private final long name;
  private final long packet;
  private final ByteBuffer view;
  private final long header;
  private final long pollfd;
  private final HeaderChecksum headers = new HeaderChecksum();
  private final CRC32 crc = new CRC32();
  private final MemorySegment capture;

  /** Callback for received payloads. */
  public interface PayloadHandler {
    /**
     * @param right whether CRC and payload are intact
     */
    void payload(int sender, int group, long number, boolean right);
  }

  /** Creates a host in the calling thread's namespace, used by that thread only. */
  public FabricHost(int number, String interfaceName, Gid ipv4, Gid ipv6) {
    this(number, interfaceName, ipv4, ipv6, BUFFER_BYTES);
  }

  /**
   * Creates a host with a buffer for many packets that are built before they are sent.
   *
   * @param bufferBytes size of the buffer at {@link #packet}
   */
  public FabricHost(int number, String interfaceName, Gid ipv4, Gid ipv6, int bufferBytes) {
    this(number, interfaceName, ipv4, ipv6, bufferBytes, PacketFormat.ROCE_PORT);
    bound();
  }

  private FabricHost(
      int number,
      String interfaceName,
      @Nullable Gid ipv4,
      @Nullable Gid ipv6,
      int bufferBytes,
      int port) {
    this.number = number;
    this.bufferBytes = bufferBytes;
    this.port = port;
    this.ipv4 = ipv4;
    this.ipv6 = ipv6;
    name = Memory.allocate(arena, 32, 8);
    packet = Memory.allocate(arena, bufferBytes, 64);
    view = Memory.ALL.asSlice(packet, bufferBytes).asByteBuffer();
    header = Memory.allocate(arena, 64 + 16 + CONTROL_BYTES, 8);
    pollfd = Memory.allocate(arena, 8 + 16, 8);
    capture = LinuxCalls.errnoCapture();
    fd =
        SystemCallException.check(
            "socket of a host", LinuxCalls.socket(AF_INET6, SOCK_DGRAM_CLOEXEC_NONBLOCK, 0));
    index = LinuxCalls.interfaceIndex(interfaceName);
    set(41, 26, 0); // IPV6_V6ONLY
    set(0, 10, 2); // IP_MTU_DISCOVER: DF, and identification 0
    set(41, 23, 2); // IPV6_MTU_DISCOVER
    set(0, 34, 0); // IP_MULTICAST_LOOP
    set(41, 19, 0); // IPV6_MULTICAST_LOOP
    set(41, 17, index); // IPV6_MULTICAST_IF
    set(0, 49, 1); // IP_MULTICAST_ALL
    LinuxCalls.setIntOption(fd, 1, 33, 32 << 20); // SO_RCVBUFFORCE
    long request = Memory.allocate(arena, 24, 8);
    if (ipv4 != null) {
      Memory.ALL.set(Memory.NETWORK_INT, request + 4, (int) ipv4.low());
      Memory.setInt(request + 8, index);
      SystemCallException.check(
          "IP_MULTICAST_IF of a host", LinuxCalls.setsockopt(fd, 0, 32, request, 12));
    }
    putName(new Gid(0, 0), port);
    Memory.setInt(pollfd, fd);
    Memory.ALL.set(Memory.NATIVE_SHORT, pollfd + 4, (short) 1);
  }

  private FabricHost bound() {
    int result = LinuxCalls.bind(fd, name, SOCKADDR_BYTES);
    if (result < 0) {
      close();
      SystemCallException.check("bind of a host", result);
    }
    return this;
  }

  /**
   * Creates a host whose socket receives on this interface only, so that one machine can be a host
   * of both fabrics.
   *
   * @param ipv4 source of IPv4 packets; null for none
   * @param ipv6 source of IPv6 packets; null for none
   * @param port source port, and port that it receives at
   * @throws SystemCallException EADDRINUSE if another program has the port
   */
  public static FabricHost onInterface(
      int number, String interfaceName, @Nullable Gid ipv4, @Nullable Gid ipv6, int port) {
    FabricHost host = new FabricHost(number, interfaceName, ipv4, ipv6, BUFFER_BYTES, port);
    byte[] text = interfaceName.getBytes(StandardCharsets.US_ASCII);
    long at = Memory.allocate(host.arena, text.length + 1L, 8);
    MemorySegment.copy(text, 0, Memory.ALL, ValueLayout.JAVA_BYTE, at, text.length);
    SystemCallException.check(
        "SO_BINDTODEVICE", LinuxCalls.setsockopt(host.fd, 1, SO_BINDTODEVICE, at, text.length + 1));
    host.enableTimestamps();
    return host.bound();
  }

  private void set(int level, int option, int value) {
    SystemCallException.check(
        "setsockopt of a host", LinuxCalls.setIntOption(fd, level, option, value));
  }

  private void putName(Gid address, int port) {
    Memory.ALL.set(Memory.NATIVE_SHORT, name, (short) AF_INET6);
    Memory.ALL.set(Memory.NETWORK_SHORT, name + 2, (short) port);
    Memory.ALL.set(Memory.NETWORK_LONG, name + 8, address.high());
    Memory.ALL.set(Memory.NETWORK_LONG, name + 16, address.low());
  }

  /**
   * Makes later payloads carry the number of another host. They are still sent from this host's
   * address.
   */
  public void copyOf(int host) {
    number = host;
  }

  /** Sets the time to live of sent packets. */
  public void hops(int hops) {
    set(0, IP_MULTICAST_TTL, hops);
    set(41, IPV6_MULTICAST_HOPS, hops);
  }

  /** Enables the system's receive time stamps. */
  public void enableTimestamps() {
    set(1, SO_TIMESTAMPNS, 1);
  }

  /** Callback for arrival times. */
  public interface ArrivalHandler {
    /**
     * @param number number of the payload
     * @param arrivedNs time of arrival, by the system's clock
     */
    void arrived(long number, long arrivedNs);
  }

  /**
   * Receives the pending packets without waiting, and reports the payloads' arrival times. Accepts
   * packets of any source and with any CRC. Requires {@link #enableTimestamps}.
   */
  public void drainArrivals(ArrivalHandler noted) {
    drain((length, arrivedNs) -> {
      long payload = packet + DatagramFormat.HEADER_BYTES;
      if (arrivedNs >= 0
          && length >= DatagramFormat.LEAST_BYTES + LEAST_PAYLOAD_BYTES
          && Memory.ALL.get(Memory.NETWORK_LONG, payload) == MARK) {
        noted.arrived(Memory.ALL.get(Memory.NETWORK_LONG, payload + 16), arrivedNs);
      }
    });
  }

  /** Callback for received packets. */
  public interface PacketConsumer {
    /**
     * Handles a packet. It stays at {@link #packet} until this method returns.
     *
     * @param lengthBytes length from the BTH to the end of the CRC
     * @param arrivedNs time of arrival, by the system's clock; negative without a time stamp
     */
    void packet(int lengthBytes, long arrivedNs);
  }

  /**
   * Receives the pending packets without waiting.
   *
   * @return number of received packets
   */
  public int drain(PacketConsumer consumer) {
    long control = header + 64 + 16;
    int taken = 0;
    while (true) {
      Memory.setLong(header, name);
      Memory.setInt(header + 8, SOCKADDR_BYTES);
      Memory.setLong(header + 16, header + 64);
      Memory.setLong(header + 24, 1);
      Memory.setLong(header + 32, control);
      Memory.setLong(header + 40, CONTROL_BYTES);
      Memory.setLong(header + 64, packet);
      Memory.setLong(header + 72, bufferBytes);
      long length = LinuxCalls.recvmsg(capture, fd, header, 0);
      if (length < 0) {
        return taken;
      }
      taken++;
      boolean stamped =
          Memory.getLong(header + 40) >= 32 && Memory.getInt(control + 12) == SO_TIMESTAMPNS;
      consumer.packet(
          (int) length,
          stamped ? Memory.getLong(control + 16) * SECOND_NS + Memory.getLong(control + 24) : -1);
    }
  }

  /** Waits for a packet, at most this long. */
  public void await(long waitNs) {
    Memory.setLong(pollfd + 8, 0);
    Memory.setLong(pollfd + 16, waitNs);
    DatagramCalls.poll(capture, pollfd, 1, pollfd + 8);
  }

  /** Joins multicast groups on an interface. */
  public void join(List<Gid> groups, String interfaceName) {
    long request = Memory.allocate(arena, 24, 8);
    for (Gid group : groups) {
      int index = LinuxCalls.interfaceIndex(interfaceName);
      if (group.isIpv4Mapped()) {
        Memory.ALL.set(Memory.NETWORK_INT, request, (int) group.low());
        Memory.setInt(request + 4, 0);
        Memory.setInt(request + 8, index);
        SystemCallException.check(
            "join " + group + " of a host", LinuxCalls.setsockopt(fd, 0, 35, request, 12));
      } else {
        Memory.ALL.set(Memory.NETWORK_LONG, request, group.high());
        Memory.ALL.set(Memory.NETWORK_LONG, request + 8, group.low());
        Memory.setInt(request + 16, index);
        SystemCallException.check(
            "join " + group + " of a host", LinuxCalls.setsockopt(fd, 41, 20, request, 20));
      }
    }
  }

  /**
   * Sends one payload.
   *
   * @return false if the system has no buffer at the moment
   */
  public boolean send(Gid group, int groupNumber, long payloadNumber, int payloadBytes) {
    int length = build(packet, group, groupNumber, payloadNumber, payloadBytes, 0);
    return sendRaw(group, length, 0);
  }

  /**
   * Sends payloads with consecutive numbers as one segmented send.
   *
   * @param count number of payloads, at most {@link HeaderChecksum#MOST_SEGMENTS}; all packets
   *     together have 64 KiB at most
   * @return false if the system has no buffer at the moment
   */
  public boolean sendTrain(Gid group, int groupNumber, long first, int count, int payloadBytes) {
    int length = 0;
    for (int i = 0; i < count; i++) {
      long at = packet + (long) i * length;
      length = build(at, group, groupNumber, first + i, payloadBytes, i);
    }
    return sendRaw(group, count * length, length);
  }

  /**
   * Sends the packets at the beginning of the buffer.
   *
   * @param length bytes of all packets together
   * @param segmentBytes length of each packet; 0 if there is only one
   */
  public boolean sendRaw(Gid group, int length, int segmentBytes) {
    return sendAt(packet, group, length, segmentBytes);
  }

  /**
   * Sends the packets that were built at an address.
   *
   * @param length bytes of all packets together
   * @param segmentBytes length of each packet; 0 if there is only one
   */
  public boolean sendAt(long at, Gid group, int length, int segmentBytes) {
    long control = header + 64 + 16;
    int controlBytes = 0;
    if (segmentBytes != 0) {
      Memory.setLong(control, 18);
      Memory.setInt(control + 8, 17); // SOL_UDP
      Memory.setInt(control + 12, 103); // UDP_SEGMENT
      Memory.ALL.set(Memory.NATIVE_SHORT, control + 16, (short) segmentBytes);
      controlBytes = 24;
    }
    if (!group.isIpv4Mapped()) {
      /*
       * IPV6_MULTICAST_IF chooses the interface, but not which of its addresses becomes the source.
       */
      Gid source = sourceOf(group);
      long info = control + controlBytes;
      Memory.setLong(info, 36);
      Memory.setInt(info + 8, 41); // SOL_IPV6
      Memory.setInt(info + 12, 50); // IPV6_PKTINFO
      Memory.ALL.set(Memory.NETWORK_LONG, info + 16, source.high());
      Memory.ALL.set(Memory.NETWORK_LONG, info + 24, source.low());
      Memory.setInt(info + 32, index);
      controlBytes += 40;
    }
    Memory.setLong(header + 32, controlBytes == 0 ? 0 : control);
    Memory.setLong(header + 40, controlBytes);
    putName(group, PacketFormat.ROCE_PORT);
    Memory.setLong(header, name);
    Memory.setInt(header + 8, SOCKADDR_BYTES);
    Memory.setLong(header + 16, header + 64);
    Memory.setLong(header + 24, 1);
    Memory.setLong(header + 64, at);
    Memory.setLong(header + 72, length);
    int sent = DatagramCalls.send(capture, fd, header, 1);
    if (sent == -Errno.EAGAIN || sent == -Errno.ENOBUFS) {
      return false;
    }
    SystemCallException.check("send to " + group + " of a host", sent);
    return true;
  }

  /**
   * Builds a packet.
   *
   * @param at address of the packet, in the buffer at {@link #packet}
   * @param segment index of the packet in a segmented send
   * @return length of the packet, from the BTH to the end of the CRC
   */
  public int build(
      long at, Gid group, int groupNumber, long payloadNumber, int payloadBytes, int segment) {
    int pad = -payloadBytes & 3;
    DatagramFormat.write(
        at, pad, DatagramFormat.MULTICAST_QUEUE_PAIR, (int) payloadNumber, QUEUE_KEY, number);
    long payload = at + DatagramFormat.HEADER_BYTES;
    Memory.ALL.set(Memory.NETWORK_LONG, payload, MARK);
    Memory.ALL.set(Memory.NETWORK_INT, payload + 8, number);
    Memory.ALL.set(Memory.NETWORK_INT, payload + 12, groupNumber);
    Memory.ALL.set(Memory.NETWORK_LONG, payload + 16, payloadNumber);
    for (int i = LEAST_PAYLOAD_BYTES; i < payloadBytes + pad; i++) {
      byte value = i < payloadBytes ? fill(payloadNumber, i) : 0;
      Memory.ALL.set(ValueLayout.JAVA_BYTE, payload + i, value);
    }
    int covered = DatagramFormat.HEADER_BYTES + payloadBytes + pad;
    writeCrc(at, group, covered, segment);
    return covered + PacketFormat.ICRC_BYTES;
  }

  /** Computes the CRC of a packet's current bytes and writes it behind them. */
  public void writeCrc(long at, Gid group, int covered, int segment) {
    int ofHeaders = headerChecksum(sourceOf(group), port, group, covered);
    int identification = group.isIpv4Mapped() ? headers.ofIdentification(segment, covered) : 0;
    Memory.setInt(at + covered, crcOf(at, covered) ^ ofHeaders ^ identification);
  }

  private Gid sourceOf(Gid group) {
    return Objects.requireNonNull(group.isIpv4Mapped() ? ipv4 : ipv6);
  }

  /** Returns the address of the packet buffer. */
  public long packet() {
    return packet;
  }

  private static byte fill(long payloadNumber, int at) {
    return (byte) (payloadNumber * 31 + at);
  }

  private int crcOf(long at, int covered) {
    int offset = (int) (at - packet);
    crc.reset();
    crc.update(view.limit(offset + covered).position(offset));
    view.clear();
    return (int) crc.getValue();
  }

  private int headerChecksum(Gid source, int sourcePort, Gid group, int covered) {
    return group.isIpv4Mapped()
        ? headers.ofIpv4((int) source.low(), sourcePort, (int) group.low(), 4791, covered)
        : headers.ofIpv6(
            source.high(), source.low(), sourcePort, group.high(), group.low(), 4791, covered);
  }

  /**
   * Waits for a packet, then receives all pending ones and checks their payloads.
   *
   * @param groups groups by the number that payloads contain
   * @return number of received packets
   */
  public int receive(List<Gid> groups, long waitNs, PayloadHandler heard) {
    await(waitNs);
    return drain((length, arrivedNs) -> checkPayload(groups, length, heard));
  }

  private void checkPayload(List<Gid> groups, int length, PayloadHandler heard) {
    long at = packet + DatagramFormat.HEADER_BYTES;
    int least = DatagramFormat.LEAST_BYTES + LEAST_PAYLOAD_BYTES;
    if (length < least
        || !DatagramFormat.isDatagram(packet, length)
        || Memory.ALL.get(Memory.NETWORK_LONG, at) != MARK) {
      heard.payload(0, -1, 0, false);
      return;
    }
    int sender = Memory.ALL.get(Memory.NETWORK_INT, at + 8);
    int group = Memory.ALL.get(Memory.NETWORK_INT, at + 12);
    long payload = Memory.ALL.get(Memory.NETWORK_LONG, at + 16);
    int bytes = DatagramFormat.payloadBytes(packet, length);
    boolean right = group >= 0 && group < groups.size() && isIntact(groups.get(group), length);
    for (int i = LEAST_PAYLOAD_BYTES; right && i < bytes; i++) {
      right = Memory.ALL.get(ValueLayout.JAVA_BYTE, at + i) == fill(payload, i);
    }
    heard.payload(sender, group, payload, right);
  }

  /**
   * Returns whether the CRC of the received packet is valid. The CRC covers the IPv4
   * identification, which the kernel doesn't deliver. So this method accepts the CRC for every
   * identification that a packet of a segmented send can have.
   */
  public boolean isIntact(Gid group, int length) {
    int covered = length - PacketFormat.ICRC_BYTES;
    int port = Memory.ALL.get(Memory.NETWORK_SHORT, name + 2) & 0xffff;
    Gid source =
        new Gid(
            Memory.ALL.get(Memory.NETWORK_LONG, name + 8),
            Memory.ALL.get(Memory.NETWORK_LONG, name + 16));
    int difference =
        Memory.getInt(packet + covered)
            ^ crcOf(packet, covered)
            ^ headerChecksum(source, port, group, covered);
    return difference == 0
        || group.isIpv4Mapped() && headers.solve(difference, covered) != HeaderChecksum.NO_SOLUTION;
  }

  @Override
  public void close() {
    LinuxCalls.close(fd);
    arena.close();
  }
}
