package io.heddle.bridge.verbs;

import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.platform.Memory;
import java.lang.foreign.ValueLayout;

/**
 * Header that libibverbs delivers before a datagram: an IPv6 header, or an IPv4 header in the last
 * 20 bytes (InfiniBand Architecture Specification, annex A17.4.5.2). Devices leave the remaining
 * bytes unchanged.
 *
 * <pre>
 *  0      8              20     24             32            36            40
 * |6 ...  |source GID            ...           |destination GID  ...        |   IPv6
 * |as it was             |0x45 ...             |source       |destination  |   IPv4
 * </pre>
 */
final class GlobalRouteHeader {
  static final int BYTES = 40;

  private static final int HOP_LIMIT = 7;
  private static final int IPV4_AT = 20;
  private static final int IPV4_BYTES = 20;
  private static final int IPV4_WITHOUT_OPTIONS = 0x45;
  private static final long MAPPED = 0x0000_ffff_0000_0000L;

  private GlobalRouteHeader() {}

  /**
   * Clears the header's bytes before a receive, so that no bytes of an earlier header are read as
   * part of the next one. Allocates nothing.
   */
  static void clear(long at) {
    for (int i = 0; i < BYTES; i += Long.BYTES) {
      Memory.setLong(at + i, 0);
    }
  }

  /**
   * Reads source and destination address into an entry of the batch; zeros if there is no header.
   */
  static void read(long at, TrainBatch batch, int row) {
    boolean ipv6 = (byteAt(at) & 0xf0) == 0x60;
    if (byteAt(at + IPV4_AT) == IPV4_WITHOUT_OPTIONS && (!ipv6 || hasValidChecksum(at + IPV4_AT))) {
      batch.sourceHigh[row] = 0;
      batch.sourceLow[row] = MAPPED | address(at + 32);
      batch.destinationHigh[row] = 0;
      batch.destinationLow[row] = MAPPED | address(at + 36);
    } else if (ipv6) {
      readGids(at, batch, row);
    } else {
      readNothing(batch, row);
    }
  }

  /** Reads an InfiniBand header into an entry of the batch; zeros if there is no header. */
  static void readOfInfiniband(long at, boolean isThere, TrainBatch batch, int row) {
    if (isThere) {
      readGids(at, batch, row);
    } else {
      readNothing(batch, row);
    }
    batch.crossed[row] = isThere && byteAt(at + HOP_LIMIT) != 0;
  }

  private static void readGids(long at, TrainBatch batch, int row) {
    batch.sourceHigh[row] = Memory.ALL.get(Memory.NETWORK_LONG, at + 8);
    batch.sourceLow[row] = Memory.ALL.get(Memory.NETWORK_LONG, at + 16);
    batch.destinationHigh[row] = Memory.ALL.get(Memory.NETWORK_LONG, at + 24);
    batch.destinationLow[row] = Memory.ALL.get(Memory.NETWORK_LONG, at + 32);
  }

  private static void readNothing(TrainBatch batch, int row) {
    batch.sourceHigh[row] = 0;
    batch.sourceLow[row] = 0;
    batch.destinationHigh[row] = 0;
    batch.destinationLow[row] = 0;
  }

  private static int byteAt(long at) {
    return Memory.ALL.get(ValueLayout.JAVA_BYTE, at) & 0xff;
  }

  private static long address(long at) {
    return Memory.ALL.get(Memory.NETWORK_INT, at) & 0xffff_ffffL;
  }

  /*
   * Verifies the checksum of an IPv4 header (RFC 1071). The same bytes of an IPv6 header belong to
   * its addresses, and rarely have a valid checksum.
   */
  private static boolean hasValidChecksum(long header) {
    int sum = 0;
    for (int i = 0; i < IPV4_BYTES; i += Short.BYTES) {
      sum += Memory.ALL.get(Memory.NETWORK_SHORT, header + i) & 0xffff;
    }
    sum = (sum & 0xffff) + (sum >>> 16);
    return (sum & 0xffff) + (sum >>> 16) == 0xffff;
  }
}
