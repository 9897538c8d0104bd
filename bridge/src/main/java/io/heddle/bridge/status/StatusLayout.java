package io.heddle.bridge.status;

import io.heddle.platform.Memory;
import java.nio.charset.StandardCharsets;

/**
 * Layout of the status file: a page for the whole bridge, then a slot for each group. Numbers are
 * offsets and lengths in bytes.
 *
 * <pre>
 * 0     magic, layout's version, process, start and heartbeat in ms, generation, slots used
 * 64    beacons refused, by reason, 4 each           3072  this bridge, 64; other bridges, 64 each
 * 1024  fabric a: texts, 512; counters, 512          2048  fabric b
 * 4096  slot 0: state, texts, 512; a to b, 3072; b to a, 3072        12288  slot 1
 * after all slots: PGM sessions, 128 each
 * </pre>
 */
final class StatusLayout {
  static final long MAGIC = 0x4845_4444_4252_4447L;
  static final int VERSION = 5;

  static final int MAGIC_AT = 0;
  static final int VERSION_AT = 8;
  static final int PROCESS_AT = 16;
  static final int STARTED_MS_AT = 24;
  static final int ALIVE_MS_AT = 32;
  /* Heartbeat by the monotonic clock. */
  static final int ALIVE_NS_AT = 40;
  static final int GENERATION_AT = 48;
  static final int SLOTS_USED_AT = 56;
  static final int BEACON_FAULTS_AT = 64;
  static final int NAME_AT = 128;
  static final int CONFIG_AT = 256;
  static final int LAST_ERROR_AT = 512;
  static final int ERROR_BYTES = 512;
  static final int TEXT_BYTES = 128;
  static final int FABRIC_AT = 1024;
  static final int FABRIC_BYTES = 1024;
  static final int FABRIC_COUNTERS_AT = 512;

  /* One entry for this bridge, then one for each other bridge. */
  static final int PEERS_AT = 3072;
  static final int PEER_BYTES = 64;
  static final int PEERS = 15;
  static final int PEER_STATE = 4;
  static final int PEER_FLAGS = 8;
  static final int PEER_PRIORITY = 12;
  static final int PEER_WEIGHT = 16;
  static final int PEER_OWNED = 20;
  static final int PEER_SILENT_MS = 24;
  static final int PEER_COUNT = 32;
  static final int PEER_ADDRESS = 40;

  /*
   * Flags of an entry. Two bits each: fabrics on which the bridge is received; fabrics whose link
   * is up.
   */
  static final int PEER_HEARD = 3;
  static final int PEER_UP_SHIFT = 2;
  static final int PEER_RESERVE = 16;
  static final int PEER_AGREES = 32;
  static final int PEER_ALIKE = 64;
  static final int PEER_ENDED = 128;

  static final int PAGE_BYTES = 4096;
  static final int SLOT_BYTES = 8192;
  static final int MOST_SLOTS = 16_384;

  static final long PGM_AT = PAGE_BYTES + (long) MOST_SLOTS * SLOT_BYTES;
  static final long PGM_BYTES = (long) PgmSessionRecord.MOST_SESSIONS * PgmSessionRecord.BYTES;
  static final long FILE_BYTES = PGM_AT + PGM_BYTES;

  /* Offsets in a slot. */
  static final int STATE_AT = 0;
  static final int GROUP_AT = 64;
  static final int SETTINGS_AT = 192;
  static final int OWNER_AT = 448;
  static final int ROLE_AT = 452;
  static final int PGM_FLAG_AT = 456;
  static final int DROP_EVERY_AT = 460;
  static final int DIRECTIONS_AT = 512;

  static final int FREE = 0;
  static final int USED = 1;
  static final int SUSPENDED = 2;

  /* State of a slot that contains the counters of unicast instead of a group's. */
  static final int UNICAST = 3;

  private StatusLayout() {}

  static long slot(long file, int slot) {
    return file + PAGE_BYTES + (long) slot * SLOT_BYTES;
  }

  static long block(long slot, int direction) {
    return slot + DIRECTIONS_AT + (long) direction * GroupCounters.BLOCK_BYTES;
  }

  static long fabric(long file, int side) {
    return file + FABRIC_AT + (long) side * FABRIC_BYTES;
  }

  static void putText(long at, int capacityBytes, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, capacityBytes - Integer.BYTES);
    Memory.setInt(at, length);
    for (int i = 0; i < length; i++) {
      Memory.ALL.set(java.lang.foreign.ValueLayout.JAVA_BYTE, at + Integer.BYTES + i, bytes[i]);
    }
  }

  static String text(long at, int capacityBytes) {
    int length = Math.clamp(Memory.getInt(at), 0, capacityBytes - Integer.BYTES);
    return new String(Memory.toArray(at + Integer.BYTES, length), StandardCharsets.UTF_8);
  }
}
