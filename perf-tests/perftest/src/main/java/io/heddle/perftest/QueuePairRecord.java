package io.heddle.perftest;

import io.heddle.platform.HeddleException;
import io.heddle.verbs.Gid;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * Record of one end's queue pair: 107 characters of hexadecimal fields, each followed by a colon,
 * and a NUL.
 *
 * @param localIdentifier InfiniBand's LID; 0 on Ethernet
 * @param outstandingReads number of reads that this end answers at a time
 * @param psn first packet sequence number that this end sends
 * @param address memory address that the peer writes to and reads from
 */
record QueuePairRecord(
    int localIdentifier,
    int outstandingReads,
    int queuePairNumber,
    int psn,
    int rkey,
    long address,
    Gid gid) {
  static final int BYTES = 108;
  private static final int PLAIN_FIELDS = 6;

  byte[] encode() {
    StringBuilder text = new StringBuilder(BYTES);
    text.append(
        String.format(
            Locale.ROOT,
            "%04x:%04x:%06x:%06x:%08x:%016x:",
            localIdentifier,
            outstandingReads,
            queuePairNumber,
            psn,
            rkey,
            address));
    for (byte octet : gid.toBytes()) {
      text.append(String.format(Locale.ROOT, "%02x:", octet));
    }
    /* The number of a shared receive queue, which no test uses. */
    text.append("00000000:");
    return Arrays.copyOf(text.toString().getBytes(StandardCharsets.US_ASCII), BYTES);
  }

  /**
   * @throws HeddleException if the bytes aren't such a record
   */
  static QueuePairRecord decode(byte[] bytes, String peer) {
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    int end = text.indexOf('\0');
    String[] fields = (end < 0 ? text : text.substring(0, end)).split(":", -1);
    try {
      if (fields.length < PLAIN_FIELDS + Gid.BYTES) {
        throw new NumberFormatException(fields.length + " fields");
      }
      byte[] gid = new byte[Gid.BYTES];
      for (int i = 0; i < gid.length; i++) {
        gid[i] = (byte) field(fields, PLAIN_FIELDS + i, 0xff);
      }
      return new QueuePairRecord(
          (int) field(fields, 0, 0xffff),
          (int) field(fields, 1, 0xffff),
          (int) field(fields, 2, 0xff_ffff),
          (int) field(fields, 3, 0xff_ffff),
          (int) field(fields, 4, 0xffff_ffffL),
          Long.parseUnsignedLong(fields[5], 16),
          Gid.of(gid));
    } catch (NumberFormatException malformed) {
      throw new HeddleException(
          peer
              + " sent an invalid address record: \""
              + PerftestDialogue.printable(bytes, 40)
              + "\"; both ends must run the same test, with a GID (-x) and without data validation",
          malformed);
    }
  }

  private static long field(String[] fields, int index, long most) {
    long value = Long.parseLong(fields[index].strip(), 16);
    if (value < 0 || value > most) {
      throw new NumberFormatException(fields[index]);
    }
    return value;
  }
}
