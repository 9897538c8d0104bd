package io.heddle.softdevice.io;

import io.heddle.platform.Memory;
import io.heddle.platform.SocketCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/**
 * Receiver of datagrams, several per call. The kernel may merge consecutive packets of equal length
 * into one datagram (UDP GRO). Each device has one receiver, used under the progress lock. Received
 * datagrams are valid until the next {@link #receive}.
 */
public final class DatagramReceiver {
  static final int DATAGRAMS = 4;

  private static final int MSG_TRUNC = 0x20;
  private static final int BUFFER_BYTES = 1 << 16;
  private static final int HEADER_BYTES = 64;
  private static final int NAME_BYTES = 32;
  private static final int CONTROL_BYTES = 64;
  private static final int CONTROL_HEADER_BYTES = 16;

  /* Value of the ECN bits that means congestion experienced. */
  private static final int CONGESTION = 3;
  private static final int SOL_UDP = 17;
  private static final int UDP_GRO = 104;

  /** Bit of {@link #remarks}: the datagram's packets have a congestion mark. */
  static final int MARKED = 1;

  /** Bit of {@link #remarks}: the datagram was fragmented. */
  static final int IN_FRAGMENTS = 2;

  private final long headers;
  private final long names;
  private final long controls;
  private final long buffers;
  private final ByteBuffer view;
  /*
   * Number of datagrams that the last call received. Initially the maximum, so that the first call
   * resets all headers.
   */
  private int received = DATAGRAMS;

  public DatagramReceiver(Arena arena) {
    headers = Memory.allocate(arena, (long) DATAGRAMS * HEADER_BYTES, 64);
    long vectors = Memory.allocate(arena, DATAGRAMS * 16L, 64);
    names = Memory.allocate(arena, (long) DATAGRAMS * NAME_BYTES, 64);
    controls = Memory.allocate(arena, (long) DATAGRAMS * CONTROL_BYTES, 64);
    buffers = Memory.allocate(arena, (long) DATAGRAMS * BUFFER_BYTES, 4096);
    view = Memory.ALL.asSlice(buffers, (long) DATAGRAMS * BUFFER_BYTES).asByteBuffer();
    for (int i = 0; i < DATAGRAMS; i++) {
      long header = headers + (long) i * HEADER_BYTES;
      long vector = vectors + i * 16L;
      Memory.ALL.set(Memory.NATIVE_LONG, vector, buffers + (long) i * BUFFER_BYTES);
      Memory.ALL.set(Memory.NATIVE_LONG, vector + 8, BUFFER_BYTES);
      Memory.ALL.set(Memory.NATIVE_LONG, header, names + (long) i * NAME_BYTES);
      Memory.ALL.set(Memory.NATIVE_LONG, header + 16, vector);
      Memory.ALL.set(Memory.NATIVE_LONG, header + 24, 1);
      Memory.ALL.set(Memory.NATIVE_LONG, header + 32, controls + (long) i * CONTROL_BYTES);
    }
  }

  /** Receives up to {@link #DATAGRAMS} datagrams; see {@link #receive(int, int)}. */
  public int receive(int fd) {
    return receive(fd, DATAGRAMS);
  }

  /**
   * Receives datagrams. Returns their number or the negated errno.
   *
   * @param most largest number of datagrams, up to {@link #DATAGRAMS}
   */
  int receive(int fd, int most) {
    /*
     * Resets the lengths in the headers that the last call used; the kernel has overwritten no
     * others. Most calls receive nothing.
     */
    for (int i = 0; i < received; i++) {
      long header = headers + (long) i * HEADER_BYTES;
      Memory.ALL.set(Memory.NATIVE_INT, header + 8, UdpSocket.SOCKADDR_BYTES);
      Memory.ALL.set(Memory.NATIVE_LONG, header + 40, CONTROL_BYTES);
    }
    int result = SocketCalls.receive(fd, headers, most);
    received = Math.max(0, result);
    return result;
  }

  /** Returns the buffer of all packets; its offset 0 is {@link #base}. */
  ByteBuffer view() {
    return view;
  }

  long base() {
    return buffers;
  }

  public long address(int datagram) {
    return buffers + (long) datagram * BUFFER_BYTES;
  }

  /** Returns the datagram's length, or 0 for a truncated datagram. */
  public int lengthBytes(int datagram) {
    long header = headers + (long) datagram * HEADER_BYTES;
    boolean truncated = (Memory.ALL.get(Memory.NATIVE_INT, header + 48) & MSG_TRUNC) != 0;
    return truncated ? 0 : Memory.ALL.get(Memory.NATIVE_INT, header + 56);
  }

  /**
   * Returns the length of each packet in a merged datagram except the last, or the datagram's
   * length if the kernel merged nothing.
   */
  public int strideBytes(int datagram) {
    long header = headers + (long) datagram * HEADER_BYTES;
    long control = controls + (long) datagram * CONTROL_BYTES;
    long length = Memory.ALL.get(Memory.NATIVE_LONG, header + 40);
    if (length >= 20
        && Memory.ALL.get(Memory.NATIVE_INT, control + 8) == SOL_UDP
        && Memory.ALL.get(Memory.NATIVE_INT, control + 12) == UDP_GRO) {
      int stride = Memory.ALL.get(Memory.NATIVE_INT, control + 16);
      if (stride > 0) {
        return stride;
      }
    }
    return lengthBytes(datagram);
  }

  /** Returns the control messages as bits: {@link #MARKED}, {@link #IN_FRAGMENTS}; usually 0. */
  int remarks(int datagram) {
    long at = controls + (long) datagram * CONTROL_BYTES;
    long end = at + Memory.getLong(headers + (long) datagram * HEADER_BYTES + 40);
    int remarks = 0;
    while (end - at > CONTROL_HEADER_BYTES) {
      long bytes = Memory.getLong(at);
      int level = Memory.getInt(at + 8);
      if (level != SOL_UDP) {
        remarks |= remark(level, Memory.getInt(at + 12), at + CONTROL_HEADER_BYTES);
      }
      at += Math.max(bytes + Long.BYTES - 1 & -Long.BYTES, CONTROL_HEADER_BYTES);
    }
    return remarks;
  }

  private static int remark(int level, int type, long value) {
    IpOptions options = level == IpOptions.IPV6.level ? IpOptions.IPV6 : IpOptions.IPV4;
    if (type == options.fragmentSize) {
      return IN_FRAGMENTS;
    }
    /* The value has one byte or four. The traffic class is the lowest byte. */
    int trafficClass = Memory.ALL.get(ValueLayout.JAVA_BYTE, value);
    return type == options.trafficClass && (trafficClass & CONGESTION) == CONGESTION ? MARKED : 0;
  }

  int sourcePort(int datagram) {
    return Memory.ALL.get(Memory.NETWORK_SHORT, names + (long) datagram * NAME_BYTES + 2) & 0xffff;
  }

  long sourceHigh(int datagram) {
    return Memory.ALL.get(Memory.NETWORK_LONG, names + (long) datagram * NAME_BYTES + 8);
  }

  long sourceLow(int datagram) {
    return Memory.ALL.get(Memory.NETWORK_LONG, names + (long) datagram * NAME_BYTES + 16);
  }
}
