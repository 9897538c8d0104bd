package io.heddle.stats;

/**
 * Layout of a statistics file, little-endian. Times are milliseconds since 1970.
 *
 * <pre>
 * header, 4096 bytes:    0 "HDLSTAT2"   8 number of records, u32   12 process id, u32   16 start, u64
 *                       24 records that were ever used, u32        28 device counters in use, u32
 *                       32 errors in use, u32                      40 errors that found no room, u64
 * errors, 64 x 1024:     0 version, u32, odd while it is written   8 count, u64   16 first, u64   24 last, u64
 *                       32 sentence, 992 bytes
 * device counters,       0 value, u64    8 name, 56 bytes: device/counter
 *   256 x 64:
 * records, 8192 x 2048:  0 state, u32 (0 free, 1 open communicator, 2 sum of closed ones)
 *                        4 direction, u32 (0 send, 1 receive)      8 weight of the plane, u32
 *                       16 plane key, 64 bytes, NUL-padded UTF-8   80 peer, 80 bytes, likewise
 *                      160 bytes, u64    168 chunks, u64    176 messages, u64
 *                      184 duplicates, u64    192 would-block answers, u64
 *                      200 this end's address, 16 bytes      216 the peer's, 16 bytes, both zero where unknown
 *                      232 where the weight comes from, 24 bytes of text
 *                      256 bytes that were acknowledged, u64    264 packets sent again, u64
 *                      272 failovers, u64    280 chunks, 288 bytes that finally went over another plane, u64
 *                      296 opened at, u64    304 weight since, u64
 *                      312 reordering, 12 u64: chunks that came 0, 1, 2-3, 4-7 ... 32-63 ahead of their message's gap;
 *                          with the policy packet, packets that came 0, 1, 2-3 ... 1024-2047 ahead of the first missing one
 *                      408 sends that were cut to their receives' sizes, u64
 *                      416 puts, 424 signals, 432 gets, 440 bytes that gets fetched, 448 flushes, u64 each
 *                      512 work requests by the time they took, 192 u64 ({@link Latencies} has the bounds)
 * </pre>
 *
 * <p>Messages, cut messages, would-block answers, puts, signals, gets and flushes don't belong to a
 * plane: they are counted on a communicator's first plane. With the policy packet, one queue pair
 * has all planes; then chunks and times are counted there, too. The file is sparse: unused parts
 * take no memory, as long as they aren't read.
 */
final class StatsLayout {
  static final long MAGIC = 0x32544154534c4448L;

  static final int COUNT = 8;
  static final int PROCESS = 12;
  static final int START = 16;
  static final int RECORDS_USED = 24;
  static final int DEVICE_COUNTERS_USED = 28;
  static final int ERRORS_USED = 32;
  static final int ERRORS_LOST = 40;
  static final int HEADER_BYTES = 4096;

  static final int ERRORS_AT = HEADER_BYTES;
  static final int ERRORS = 64;
  static final int ERROR_BYTES = 1024;
  static final int ERROR_VERSION = 0;
  static final int ERROR_COUNT = 8;
  static final int ERROR_FIRST = 16;
  static final int ERROR_LAST = 24;
  static final int ERROR_TEXT = 32;
  static final int ERROR_TEXT_BYTES = ERROR_BYTES - ERROR_TEXT;

  static final int DEVICE_COUNTERS_AT = ERRORS_AT + ERRORS * ERROR_BYTES;
  static final int DEVICE_COUNTERS = 256;
  static final int DEVICE_COUNTER_BYTES = 64;
  static final int DEVICE_COUNTER_NAME = 8;
  static final int DEVICE_COUNTER_NAME_BYTES = DEVICE_COUNTER_BYTES - DEVICE_COUNTER_NAME;

  static final int RECORDS_AT = DEVICE_COUNTERS_AT + DEVICE_COUNTERS * DEVICE_COUNTER_BYTES;
  static final int RECORDS = 8192;
  /* Number of records at the file's end that are reserved for sums of closed communicators. */
  static final int SUMS = 64;
  static final int RECORD_BYTES = 2048;
  static final long FILE_BYTES = RECORDS_AT + (long) RECORDS * RECORD_BYTES;

  static final int FREE = 0;
  static final int OPEN = 1;
  static final int SUM = 2;

  static final int STATE = 0;
  static final int DIRECTION = 4;
  static final int WEIGHT = 8;
  static final int KEY = 16;
  static final int KEY_BYTES = 64;
  static final int PEER = 80;
  static final int PEER_BYTES = 80;
  static final int BYTES = 160;
  static final int CHUNKS = 168;
  static final int MESSAGES = 176;
  static final int DUPLICATES = 184;
  static final int WOULD_BLOCK = 192;
  static final int LOCAL = 200;
  static final int REMOTE = 216;
  static final int ADDRESS_BYTES = 16;
  static final int SOURCE = 232;
  static final int SOURCE_BYTES = 24;
  static final int ACKNOWLEDGED = 256;
  static final int RESENT = 264;
  static final int FAILOVERS = 272;
  static final int MOVED_CHUNKS = 280;
  static final int MOVED_BYTES = 288;
  static final int OPENED = 296;
  static final int WEIGHT_SINCE = 304;
  static final int REORDERING = 312;
  static final int REORDERINGS = 12;
  static final int CUT = REORDERING + REORDERINGS * Long.BYTES;
  static final int PUTS = CUT + Long.BYTES;
  static final int SIGNALS = PUTS + Long.BYTES;
  static final int GETS = SIGNALS + Long.BYTES;
  static final int GET_BYTES = GETS + Long.BYTES;
  static final int FLUSHES = GET_BYTES + Long.BYTES;
  static final int LATENCIES = 512;

  /** Counters that are added to the sum of closed communicators. */
  private static final int[] SINGLE_SUMMED = {
    BYTES,
    CHUNKS,
    MESSAGES,
    DUPLICATES,
    WOULD_BLOCK,
    ACKNOWLEDGED,
    RESENT,
    FAILOVERS,
    MOVED_CHUNKS,
    MOVED_BYTES,
    CUT,
    PUTS,
    SIGNALS,
    GETS,
    GET_BYTES,
    FLUSHES
  };

  private StatsLayout() {}

  static long record(int index) {
    return RECORDS_AT + (long) index * RECORD_BYTES;
  }

  static long error(int index) {
    return ERRORS_AT + (long) index * ERROR_BYTES;
  }

  static long deviceCounter(int index) {
    return DEVICE_COUNTERS_AT + (long) index * DEVICE_COUNTER_BYTES;
  }

  /** Returns the offsets of all counters that are added to the sum of closed communicators. */
  static int[] summed() {
    int[] all =
        java.util.Arrays.copyOf(
            SINGLE_SUMMED, SINGLE_SUMMED.length + REORDERINGS + Latencies.BUCKETS);
    int at = SINGLE_SUMMED.length;
    for (int i = 0; i < REORDERINGS; i++) {
      all[at++] = REORDERING + i * Long.BYTES;
    }
    for (int i = 0; i < Latencies.BUCKETS; i++) {
      all[at++] = LATENCIES + i * Long.BYTES;
    }
    return all;
  }
}
