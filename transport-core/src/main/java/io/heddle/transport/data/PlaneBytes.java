package io.heddle.transport.data;

import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Writer of the records of a send's bytes on each plane, which the shim requests for NCCL's
 * profiler: {@code struct heddle_plane_bytes} of native/src/java_calls.h.
 */
final class PlaneBytes {
  static final int BYTES = 48;
  static final int MAX_PLANES = 64;

  private static final int CHUNKS_LEFT = 8;
  private static final int CHUNKS_POSTED = 16;
  private static final int CHUNKS_ACKNOWLEDGED = 24;
  private static final int BYTES_POSTED = 32;
  private static final int BYTES_ACKNOWLEDGED = 40;

  private final long[] names;

  /**
   * @param arena arena of the planes' names; it lives as long as the connection, since the shim
   *     passes on pointers to the names
   * @param keys keys of the connection's planes, in order
   */
  PlaneBytes(Arena arena, List<String> keys) {
    names =
        keys.stream()
            .limit(MAX_PLANES)
            .mapToLong(key -> arena.allocateFrom(key).address())
            .toArray();
  }

  /**
   * Writes one message's records, one per plane.
   *
   * @param line index of the message's request line
   * @param lengths length of each of the message's chunks, by the chunk's number
   * @param out address of the first record
   * @return the number of planes
   */
  int write(SentChunks chunks, int line, IntUnaryOperator lengths, long out) {
    for (int plane = 0; plane < names.length; plane++) {
      long at = out + (long) plane * BYTES;
      Memory.ALL.asSlice(at, BYTES).fill((byte) 0);
      Memory.ALL.set(Memory.NATIVE_LONG, at, names[plane]);
      Memory.ALL.set(Memory.NATIVE_LONG, at + CHUNKS_LEFT, Long.bitCount(chunks.toPost(line)));
    }
    for (int chunk = 0; chunk < chunks.count(line); chunk++) {
      int plane = chunks.planeOf(line, chunk);
      if (plane < names.length && (chunks.toPost(line) & 1L << chunk) == 0) {
        long at = out + (long) plane * BYTES;
        int length = lengths.applyAsInt(chunk);
        add(at + CHUNKS_POSTED, 1);
        add(at + BYTES_POSTED, length);
        if (!chunks.isOutstanding(line, chunk)) {
          add(at + CHUNKS_ACKNOWLEDGED, 1);
          add(at + BYTES_ACKNOWLEDGED, length);
        }
      }
    }
    return names.length;
  }

  private static void add(long address, long amount) {
    Memory.ALL.set(
        Memory.NATIVE_LONG, address, Memory.ALL.get(Memory.NATIVE_LONG, address) + amount);
  }
}
