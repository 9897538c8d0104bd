package io.heddle.bridge.fabric;

import io.heddle.roce.wire.HeaderChecksum;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The invariant CRCs of one wire fabric: of packets that come, each from its own sender, and of
 * those that leave, all from the bridge. A packet's bytes are gone through once for both. The data
 * thread's.
 */
final class WireChecksums {
  private static final Gid NONE = new Gid(0, 0);

  private final HeaderChecksum headers = new HeaderChecksum();
  private final PacketCrc crc;
  private final Gid ipv4;
  private final Gid ipv6;

  /* Of the last train that was asked for. */
  private int lastTrain = -1;
  private int lastCovered;
  private int lastChecksum;

  /**
   * @param base address of the area's first byte
   */
  WireChecksums(@Nullable Gid ipv4, @Nullable Gid ipv6, long base, ByteBuffer area) {
    this.ipv4 = ipv4 == null ? NONE : ipv4;
    this.ipv6 = ipv6 == null ? NONE : ipv6;
    crc = new PacketCrc(base, area);
  }

  /** There is another batch. */
  void next() {
    lastTrain = -1;
  }

  /** Of a packet's own bytes, with congestion marks as zeros. */
  int of(long packet, int covered) {
    return crc.of(packet, covered);
  }

  /** What the headers of a train's packets add. */
  int arrived(TrainBatch batch, int train, int covered) {
    if (train != lastTrain || covered != lastCovered) {
      lastTrain = train;
      lastCovered = covered;
      lastChecksum =
          isIpv4(batch, train)
              ? headers.ofIpv4(
                  (int) batch.sourceLow[train],
                  batch.sourcePort[train],
                  (int) batch.destinationLow[train],
                  PacketFormat.ROCE_PORT,
                  covered)
              : headers.ofIpv6(
                  batch.sourceHigh[train],
                  batch.sourceLow[train],
                  batch.sourcePort[train],
                  batch.destinationHigh[train],
                  batch.destinationLow[train],
                  PacketFormat.ROCE_PORT,
                  covered);
    }
    return lastChecksum;
  }

  private static boolean isIpv4(TrainBatch batch, int train) {
    return batch.destinationHigh[train] == 0 && batch.destinationLow[train] >>> 32 == 0xffff;
  }

  /** Whether an identification or flag that nobody saw makes this difference. */
  boolean isRightWith(TrainBatch batch, int train, int difference, int covered) {
    return isIpv4(batch, train) && headers.solve(difference, covered) != HeaderChecksum.NO_SOLUTION;
  }

  /**
   * What the headers of a packet that leaves add.
   *
   * @param segment its number in a segmented send, which is its identification
   */
  int leaving(WireWay way, int covered, int segment) {
    boolean toIpv4 = way.destination().isIpv4Mapped();
    int checksum = way.checksum(covered);
    if (checksum == 0) {
      Gid own = toIpv4 ? ipv4 : ipv6;
      Gid source = way.source() == null ? own : way.source();
      checksum =
          toIpv4
              ? headers.ofIpv4(
                  (int) source.low(),
                  PacketFormat.ROCE_PORT,
                  (int) way.destination().low(),
                  PacketFormat.ROCE_PORT,
                  covered)
              : headers.ofIpv6(
                  source.high(),
                  source.low(),
                  PacketFormat.ROCE_PORT,
                  way.destination().high(),
                  way.destination().low(),
                  PacketFormat.ROCE_PORT,
                  covered);
      way.keepChecksum(covered, checksum);
    }
    return toIpv4 ? checksum ^ headers.ofIdentification(segment, covered) : checksum;
  }
}
