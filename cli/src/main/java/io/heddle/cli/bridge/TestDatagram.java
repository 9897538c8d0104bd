package io.heddle.cli.bridge;

import io.heddle.platform.Memory;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.ValueLayout;
import java.time.Instant;

/**
 * Datagram of {@code heddle bridge test}. A magic number and the number of its test identify it. It
 * contains the address of its group, so that a receiver needs no list of groups.
 *
 * <pre>
 *  0         8    12      16      24     40     48       56     64
 * |"HEDTEST" |run |origin |number |group |count |sent ns |clock |bytes derived from the number ...
 * </pre>
 */
final class TestDatagram {
  /** Minimum length of a payload. */
  static final int LEAST_BYTES = 64;

  /** Number of a probe. Probes are repeated until one arrives, before the counted datagrams. */
  static final long PROBE = -1;

  private static final long MARK = 0x4845_4454_4553_5401L;
  private static final int RUN = 8;
  private static final int ORIGIN = 12;
  private static final int NUMBER = 16;
  private static final int GROUP = 24;
  private static final int COUNT = 40;
  private static final int SENT = 48;
  private static final int CLOCK = 56;
  private static final int QUEUE_PAIR_MASK = 0xff_ffff;
  private static final long SECOND_NS = 1_000_000_000L;

  /**
   * Fields common to all datagrams of a test.
   *
   * @param run number of the test
   * @param queueKey queue key of the datagrams; a device drops datagrams with another key than its
   *     queue pair's
   * @param count number of counted datagrams to each group and direction
   * @param bytes length of each payload
   * @param clock identifies the sender's clock: equal numbers mean the same clock
   */
  record Common(int run, int queueKey, long count, int bytes, long clock) {}

  /**
   * Received datagram.
   *
   * @param origin end that sent it, 0 or 1
   * @param arrivedNs time of arrival, by the receiver's clock; negative without a time stamp
   * @param isIntact whether its CRC and all its bytes are intact
   */
  record Received(
      int run,
      int origin,
      long number,
      Gid group,
      long count,
      long sentNs,
      long clock,
      long arrivedNs,
      boolean isIntact) {}

  private TestDatagram() {}

  /**
   * Sends a datagram.
   *
   * @return false if the system has no buffer at the moment
   */
  static boolean send(FabricHost host, Common common, int origin, Gid group, long number) {
    long at = host.packet();
    int bytes = common.bytes();
    int pad = -bytes & 3;
    DatagramFormat.write(
        at,
        pad,
        DatagramFormat.MULTICAST_QUEUE_PAIR,
        (int) number,
        common.queueKey(),
        common.run() & QUEUE_PAIR_MASK);
    long payload = at + DatagramFormat.HEADER_BYTES;
    Memory.ALL.set(Memory.NETWORK_LONG, payload, MARK);
    Memory.ALL.set(Memory.NETWORK_INT, payload + RUN, common.run());
    Memory.ALL.set(Memory.NETWORK_INT, payload + ORIGIN, origin);
    Memory.ALL.set(Memory.NETWORK_LONG, payload + NUMBER, number);
    Memory.ALL.set(Memory.NETWORK_LONG, payload + GROUP, group.high());
    Memory.ALL.set(Memory.NETWORK_LONG, payload + GROUP + 8, group.low());
    Memory.ALL.set(Memory.NETWORK_LONG, payload + COUNT, common.count());
    Memory.ALL.set(Memory.NETWORK_LONG, payload + SENT, nowNs());
    Memory.ALL.set(Memory.NETWORK_LONG, payload + CLOCK, common.clock());
    for (int i = LEAST_BYTES; i < bytes + pad; i++) {
      byte value = i < bytes ? fill(number, i) : 0;
      Memory.ALL.set(ValueLayout.JAVA_BYTE, payload + i, value);
    }
    int covered = DatagramFormat.HEADER_BYTES + bytes + pad;
    host.writeCrc(at, group, covered, 0);
    return host.sendRaw(group, covered + PacketFormat.ICRC_BYTES, 0);
  }

  /** Returns whether the packet that the host received last is a test datagram. */
  static boolean isTestDatagram(FabricHost host, int lengthBytes) {
    return lengthBytes >= DatagramFormat.LEAST_BYTES + LEAST_BYTES
        && DatagramFormat.isDatagram(host.packet(), lengthBytes)
        && Memory.ALL.get(Memory.NETWORK_LONG, host.packet() + DatagramFormat.HEADER_BYTES) == MARK;
  }

  /** Reads the datagram that the host received last. Requires {@link #isTestDatagram}. */
  static Received read(FabricHost host, int lengthBytes, long arrivedNs) {
    long payload = host.packet() + DatagramFormat.HEADER_BYTES;
    Gid group =
        new Gid(
            Memory.ALL.get(Memory.NETWORK_LONG, payload + GROUP),
            Memory.ALL.get(Memory.NETWORK_LONG, payload + GROUP + 8));
    long number = Memory.ALL.get(Memory.NETWORK_LONG, payload + NUMBER);
    int bytes = DatagramFormat.payloadBytes(host.packet(), lengthBytes);
    boolean right = host.isIntact(group, lengthBytes);
    for (int i = LEAST_BYTES; right && i < bytes; i++) {
      right = Memory.ALL.get(ValueLayout.JAVA_BYTE, payload + i) == fill(number, i);
    }
    return new Received(
        Memory.ALL.get(Memory.NETWORK_INT, payload + RUN),
        Memory.ALL.get(Memory.NETWORK_INT, payload + ORIGIN),
        number,
        group,
        Memory.ALL.get(Memory.NETWORK_LONG, payload + COUNT),
        Memory.ALL.get(Memory.NETWORK_LONG, payload + SENT),
        Memory.ALL.get(Memory.NETWORK_LONG, payload + CLOCK),
        arrivedNs,
        right);
  }

  private static byte fill(long number, int at) {
    return (byte) (number * 31 + at);
  }

  private static long nowNs() {
    Instant now = Instant.now();
    return now.getEpochSecond() * SECOND_NS + now.getNano();
  }
}
