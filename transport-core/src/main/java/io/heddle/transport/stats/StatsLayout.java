package io.heddle.transport.stats;

/**
 * Layout of a statistics file, little-endian.
 *
 * <pre>
 * header, 256 bytes:  0 "HDLSTAT1"   8 number of records, u32   12 process id, u32   16 start, s since 1970, u64
 * record, 256 bytes:  0 state, u32 (0 free, 1 open communicator, 2 sum of closed ones)
 *                     4 direction, u32 (0 send, 1 receive)      8 weight of the plane, u32
 *                    16 plane key, 64 bytes, NUL-padded UTF-8   80 peer, 80 bytes, likewise
 *                   160 bytes, u64    168 chunks, u64    176 messages, u64
 *                   184 duplicates, u64    192 would-block answers, u64
 *                   200 this end's address, 16 bytes      216 the peer's, 16 bytes, both zero where unknown
 *                   232 where the weight comes from, 24 bytes of text
 * </pre>
 *
 * <p>Messages and would-block answers are counted on the first plane of a communicator, since they
 * aren't a plane's.
 */
final class StatsLayout {
  static final long MAGIC = 0x31544154534c4448L;
  static final int HEADER_BYTES = 256;
  static final int RECORD_BYTES = 256;
  static final int RECORDS = 8192;
  static final long FILE_BYTES = HEADER_BYTES + (long) RECORDS * RECORD_BYTES;

  static final int COUNT = 8;
  static final int PROCESS = 12;
  static final int START = 16;

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

  private StatsLayout() {}
}
