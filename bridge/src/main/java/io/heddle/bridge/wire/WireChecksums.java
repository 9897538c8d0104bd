package io.heddle.bridge.wire;

import io.heddle.bridge.fabric.PacketCrc;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.roce.wire.HeaderChecksum;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Calculator of invariant CRCs for a wire fabric. A packet has other IP and UDP headers when it is
 * sent than when it was received. Each CRC combines a CRC of the headers with a CRC of the packet's
 * other bytes, so that those are read only once. Used by the data thread only.
 */
final class WireChecksums {
  private static final Gid NONE = new Gid(0, 0);

  private final HeaderChecksum headers = new HeaderChecksum();
  private final PacketCrc crc;
  private final Gid ipv4;
  private final Gid ipv6;

  /* Arguments and result of the last call of ofReceived. */
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

  /** Starts another batch, whose trains have new headers. */
  void startBatch() {
    lastTrain = -1;
  }

  /** Returns the CRC of a packet's bytes from the BTH on, with congestion marks as zeros. */
  int of(long packet, int covered) {
    return crc.of(packet, covered);
  }

  /** Returns the headers' contribution to the CRC, for each packet of a received train. */
  int ofReceived(TrainBatch batch, int train, int covered) {
    if (train != lastTrain || covered != lastCovered) {
      lastTrain = train;
      lastCovered = covered;
      lastChecksum =
          batch.isToIpv4(train)
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

  /**
   * Returns whether this difference of CRCs can come from the IPv4 identification and flags, which
   * the receiver doesn't know.
   */
  boolean isValidWith(TrainBatch batch, int train, int difference, int covered) {
    return batch.isToIpv4(train)
        && headers.solve(difference, covered) != HeaderChecksum.NO_SOLUTION;
  }

  /**
   * Returns the headers' contribution to the CRC, for a sent packet.
   *
   * @param segment index of the packet in a segmented send, which becomes its IPv4 identification
   */
  int ofSent(WireSendPath sendPath, int covered, int segment) {
    boolean toIpv4 = sendPath.destination().isIpv4Mapped();
    int checksum = sendPath.checksum(covered);
    if (checksum == 0) {
      Gid own = toIpv4 ? ipv4 : ipv6;
      Gid source = sendPath.source() == null ? own : sendPath.source();
      checksum =
          toIpv4
              ? headers.ofIpv4(
                  (int) source.low(),
                  PacketFormat.ROCE_PORT,
                  (int) sendPath.destination().low(),
                  PacketFormat.ROCE_PORT,
                  covered)
              : headers.ofIpv6(
                  source.high(),
                  source.low(),
                  PacketFormat.ROCE_PORT,
                  sendPath.destination().high(),
                  sendPath.destination().low(),
                  PacketFormat.ROCE_PORT,
                  covered);
      sendPath.keepChecksum(covered, checksum);
    }
    return toIpv4 ? checksum ^ headers.ofIdentification(segment, covered) : checksum;
  }
}
