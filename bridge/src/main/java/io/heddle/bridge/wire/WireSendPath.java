package io.heddle.bridge.wire;

import io.heddle.bridge.fabric.FabricSocket;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * Path in a wire fabric to one address, with the headers' contribution to CRCs by packet length.
 */
final class WireSendPath implements SendPath {
  /*
   * Packet lengths per row of checksums. Rows are allocated on first use, since most groups have
   * packets of one or two lengths, and there may be thousands of groups.
   */
  private static final int ROW_LENGTHS = 64;

  private final @Nullable Gid source;
  private final Gid destination;
  private final int interfaceIndex;
  private final int trafficClass;
  private final int[] @Nullable [] checksums;

  /**
   * @param source source address of packets; null for the socket's own source of IPv4 groups
   * @param mostBytes maximum length of a packet
   */
  WireSendPath(
      @Nullable Gid source, Gid destination, int interfaceIndex, int trafficClass, int mostBytes) {
    this.source = source;
    this.destination = destination;
    this.interfaceIndex = interfaceIndex;
    this.trafficClass = trafficClass;
    checksums = new int[mostBytes / Integer.BYTES / ROW_LENGTHS + 1][];
  }

  @Nullable Gid source() {
    return source;
  }

  Gid destination() {
    return destination;
  }

  /** Writes the destination's struct sockaddr_in6. */
  void writeName(long at) {
    FabricSocket.writeName(at, destination, PacketFormat.ROCE_PORT, interfaceIndex);
  }

  int trafficClass() {
    return trafficClass;
  }

  /**
   * Returns the stored contribution of the headers to the CRC; 0 if none is stored.
   *
   * @param covered bytes from the BTH to the end of the pad
   */
  int checksum(int covered) {
    int[] row = checksums[covered / Integer.BYTES / ROW_LENGTHS];
    return row == null ? 0 : row[covered / Integer.BYTES % ROW_LENGTHS];
  }

  /** Stores the contribution of the headers to the CRC, for {@link #checksum}. */
  void keepChecksum(int covered, int checksum) {
    int length = covered / Integer.BYTES;
    int[] row = checksums[length / ROW_LENGTHS];
    if (row == null) {
      row = new int[ROW_LENGTHS];
      checksums[length / ROW_LENGTHS] = row;
    }
    row[length % ROW_LENGTHS] = checksum;
  }
}
