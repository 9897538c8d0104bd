package io.heddle.bridge.wire;

import io.heddle.bridge.fabric.FabricSocket;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.FabricCounter;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.platform.DatagramCalls;
import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.roce.wire.HeaderChecksum;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Sender that queues packets without copying them, and sends them in one call. Consecutive packets
 * of equal length on one path become one segmented send if that is allowed. Used by the data thread
 * only.
 */
final class WireSender {
  private static final int PACKETS = 512;
  private static final int HEADER_BYTES = 64;
  private static final int NAME_ROOM_BYTES = 32;
  private static final int VECTOR_BYTES = 16;
  private static final int CONTROL_BYTES = 88;
  private static final int CELL_BYTES = 24;
  private static final int SOURCE_CELL_BYTES = 40;
  /* Maximum payload of an IPv4 datagram, which is less than that of an IPv6 datagram. */
  private static final int MOST_RUN_BYTES = 65507;

  private static final int SOL_IP = 0;
  private static final int IP_TOS = 1;
  private static final int SOL_IPV6 = 41;
  private static final int IPV6_TCLASS = 67;
  private static final int IPV6_PKTINFO = 50;
  private static final int SOL_UDP = 17;
  private static final int UDP_SEGMENT = 103;
  private static final short POLLOUT = 4;
  private static final long PATIENCE_NS = 2_000_000;
  private static final int PATIENCE_ROUNDS = 5;

  private final int fd;
  private final WireChecksums checksums;
  private final long headers;
  private final long names;
  private final long vectors;
  private final long controls;
  private final long pollfd;
  private final WireSendPath[] sendPaths = new WireSendPath[PACKETS];
  private final int[] firstPackets = new int[PACKETS + 1];
  private final long[] groupCounters = new long[PACKETS];
  private final long[] arrivedNs = new long[PACKETS];
  private final boolean trainsIpv4;
  private boolean trains = true;
  private int messages;
  private int packets;
  private int runBytes;
  private final long counters;

  /**
   * @param trainsIpv4 whether IPv4 packets may be sent as segment trains, in which the IPv4
   *     identification counts up
   * @param counters address of the fabric's counters in the status file
   */
  WireSender(Arena arena, int fd, WireChecksums checksums, boolean trainsIpv4, long counters) {
    this.counters = counters;
    this.fd = fd;
    this.checksums = checksums;
    this.trainsIpv4 = trainsIpv4;
    headers = Memory.allocate(arena, (long) PACKETS * HEADER_BYTES, 64);
    names = Memory.allocate(arena, (long) PACKETS * NAME_ROOM_BYTES, 64);
    vectors = Memory.allocate(arena, (long) PACKETS * VECTOR_BYTES, 64);
    controls = Memory.allocate(arena, (long) PACKETS * CONTROL_BYTES, 64);
    pollfd = Memory.allocate(arena, 8 + 16, 8);
    Memory.setInt(pollfd, fd);
    Memory.ALL.set(Memory.NATIVE_SHORT, pollfd + 4, POLLOUT);
    Memory.setLong(pollfd + 16, PATIENCE_NS);
  }

  void send(
      WireSendPath sendPath, long packet, int lengthBytes, int crc, long counted, long arrived) {
    if (packets == PACKETS) {
      flush();
    }
    int run = packets - (messages == 0 ? 0 : firstPackets[messages - 1]);
    boolean joins =
        messages > 0
            && sendPaths[messages - 1] == sendPath
            && lengthBytes * run == runBytes
            && run < HeaderChecksum.MOST_SEGMENTS
            && runBytes + lengthBytes <= MOST_RUN_BYTES
            && mayTrain(sendPath);
    if (!joins) {
      sendPaths[messages] = sendPath;
      firstPackets[messages] = packets;
      messages++;
      runBytes = 0;
      run = 0;
    }
    int covered = lengthBytes - 4;
    Memory.setInt(packet + covered, crc ^ checksums.ofSent(sendPath, covered, run));
    long vector = vectors + (long) packets * VECTOR_BYTES;
    Memory.setLong(vector, packet);
    Memory.setLong(vector + 8, lengthBytes);
    groupCounters[packets] = counted;
    arrivedNs[packets] = arrived;
    runBytes += lengthBytes;
    packets++;
  }

  private boolean mayTrain(WireSendPath sendPath) {
    return trains && (trainsIpv4 || !sendPath.destination().isIpv4Mapped());
  }

  void flush() {
    if (messages == 0) {
      return;
    }
    firstPackets[messages] = packets;
    for (int i = 0; i < messages; i++) {
      writeHeader(i, firstPackets[i], firstPackets[i + 1] - firstPackets[i]);
    }
    MemorySegment capture = LinuxCalls.errnoCapture();
    int done = 0;
    int patience = PATIENCE_ROUNDS;
    while (done < messages) {
      int sent =
          DatagramCalls.send(capture, fd, headers + (long) done * HEADER_BYTES, messages - done);
      if (sent > 0) {
        countSent(done, done + sent);
        done += sent;
      } else if (sent == -Errno.EAGAIN && patience > 0) {
        patience--;
        DatagramCalls.poll(capture, pollfd, 1, pollfd + 8);
      } else if (sent != -Errno.EINTR) {
        refused(done, -sent, capture);
        done++;
      }
    }
    discard();
  }

  /** Drops the queued packets. */
  void discard() {
    messages = 0;
    packets = 0;
    runBytes = 0;
  }

  private void writeHeader(int message, int first, int count) {
    WireSendPath sendPath = sendPaths[message];
    long header = headers + (long) message * HEADER_BYTES;
    long control = controls + (long) message * CONTROL_BYTES;
    int bytes = 0;
    if (count > 1) {
      Memory.setLong(control, 18);
      Memory.setInt(control + 8, SOL_UDP);
      Memory.setInt(control + 12, UDP_SEGMENT);
      long length = Memory.getLong(vectors + (long) first * VECTOR_BYTES + 8);
      Memory.ALL.set(Memory.NATIVE_SHORT, control + 16, (short) length);
      bytes = CELL_BYTES;
    }
    if (sendPath.trafficClass() != 0) {
      boolean ipv4 = sendPath.destination().isIpv4Mapped();
      Memory.setLong(control + bytes, 20);
      Memory.setInt(control + bytes + 8, ipv4 ? SOL_IP : SOL_IPV6);
      Memory.setInt(control + bytes + 12, ipv4 ? IP_TOS : IPV6_TCLASS);
      Memory.setInt(control + bytes + 16, sendPath.trafficClass());
      bytes += CELL_BYTES;
    }
    Gid source = sendPath.source();
    if (source != null) {
      writeSource(control + bytes, source);
      bytes += SOURCE_CELL_BYTES;
    }
    long name = names + (long) message * NAME_ROOM_BYTES;
    sendPath.writeName(name);
    Memory.setLong(header, name);
    Memory.setInt(header + 8, FabricSocket.NAME_BYTES);
    Memory.setLong(header + 16, vectors + (long) first * VECTOR_BYTES);
    Memory.setLong(header + 24, count);
    Memory.setLong(header + 32, bytes == 0 ? 0 : control);
    Memory.setLong(header + 40, bytes);
    Memory.setInt(header + 48, 0);
  }

  /* Writes a struct in6_pktinfo: the source address of a packet, and no interface. */
  private static void writeSource(long control, Gid source) {
    Memory.setLong(control, 36);
    Memory.setInt(control + 8, SOL_IPV6);
    Memory.setInt(control + 12, IPV6_PKTINFO);
    Memory.ALL.set(Memory.NETWORK_LONG, control + 16, source.high());
    Memory.ALL.set(Memory.NETWORK_LONG, control + 24, source.low());
    Memory.setInt(control + 32, 0);
  }

  private void countSent(int fromMessage, int toMessage) {
    long now = System.nanoTime();
    FabricCounter.SENT_MESSAGES.add(counters, toMessage - fromMessage);
    for (int i = firstPackets[fromMessage]; i < firstPackets[toMessage]; i++) {
      int length = (int) Memory.getLong(vectors + (long) i * VECTOR_BYTES + 8);
      GroupCounters.forwarded(groupCounters[i], length, now - arrivedNs[i]);
    }
  }

  /*
   * Handles a message that the system refused. A train that it refused to segment is sent packet by
   * packet, and so is every later train. If none of the packets can be sent either, segmentation
   * isn't the cause, so later trains are tried again.
   */
  private void refused(int message, int errno, MemorySegment capture) {
    int first = firstPackets[message];
    int count = firstPackets[message + 1] - first;
    boolean cutting = errno == Errno.EINVAL || errno == Errno.EIO || errno == Errno.EOPNOTSUPP;
    if (count == 1 || !cutting) {
      for (int i = first; i < first + count; i++) {
        GroupCounters.dropped(groupCounters[i], DropReason.NOT_SENT, 1);
      }
      return;
    }
    boolean sent = false;
    for (int i = 0; i < count; i++) {
      long vector = vectors + (long) (first + i) * VECTOR_BYTES;
      long packet = Memory.getLong(vector);
      int covered = (int) Memory.getLong(vector + 8) - 4;
      int stored = Memory.getInt(packet + covered);
      WireSendPath sendPath = sendPaths[message];
      Memory.setInt(
          packet + covered,
          stored ^ checksums.ofSent(sendPath, covered, i) ^ checksums.ofSent(sendPath, covered, 0));
      writeHeader(message, first + i, 1);
      if (DatagramCalls.send(capture, fd, headers + (long) message * HEADER_BYTES, 1) == 1) {
        sent = true;
        FabricCounter.SENT_MESSAGES.add(counters, 1);
        GroupCounters.forwarded(
            groupCounters[first + i], covered + 4, System.nanoTime() - arrivedNs[first + i]);
      } else {
        GroupCounters.dropped(groupCounters[first + i], DropReason.NOT_SENT, 1);
      }
    }
    if (sent) {
      trains = false;
      FabricCounter.TRAINS_REFUSED.add(counters, 1);
    }
  }
}
