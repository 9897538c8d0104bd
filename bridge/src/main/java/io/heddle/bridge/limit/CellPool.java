package io.heddle.bridge.limit;

import io.heddle.platform.Memory;
import java.lang.foreign.Arena;

/**
 * Memory of all queued packets: cells of one size, each large enough for the largest packet,
 * allocated once. A cell is identified by its index. Used by the data thread only.
 *
 * <pre>
 * 0     4       8    12       16        24          32
 * |next |length |CRC |        |digest   |arrived    |queued at     64: the packet
 * </pre>
 */
final class CellPool {
  static final int NONE = -1;
  private static final int HEADER_BYTES = 64;
  private static final int LINE_BYTES = 64;

  private final long base;
  private final long cellBytes;
  private final int cells;
  private int firstFree = NONE;
  private int used;

  CellPool(Arena arena, long poolBytes, int packetBytes) {
    cellBytes = HEADER_BYTES + (packetBytes + LINE_BYTES - 1L) / LINE_BYTES * LINE_BYTES;
    cells = (int) Math.min(Integer.MAX_VALUE, poolBytes / cellBytes);
    base = Memory.allocate(arena, cells * cellBytes, LINE_BYTES);
    for (int cell = cells - 1; cell >= 0; cell--) {
      setNext(cell, firstFree);
      firstFree = cell;
    }
  }

  int cells() {
    return cells;
  }

  int used() {
    return used;
  }

  /** Takes a free cell, or returns {@link #NONE}. */
  int allocate() {
    int cell = firstFree;
    if (cell != NONE) {
      firstFree = next(cell);
      used++;
    }
    return cell;
  }

  void free(int cell) {
    setNext(cell, firstFree);
    firstFree = cell;
    used--;
  }

  private long at(int cell) {
    return base + cell * cellBytes;
  }

  int next(int cell) {
    return Memory.getInt(at(cell));
  }

  void setNext(int cell, int next) {
    Memory.setInt(at(cell), next);
  }

  /** Copies a packet into a cell. */
  void put(int cell, long packet, int length, int crc, long digest, long arrivedNs, long nowNs) {
    long at = at(cell);
    Memory.setInt(at + 4, length);
    Memory.setInt(at + 8, crc);
    Memory.setLong(at + 16, digest);
    Memory.setLong(at + 24, arrivedNs);
    Memory.setLong(at + 32, nowNs);
    Memory.copy(packet, at + HEADER_BYTES, length);
  }

  long packet(int cell) {
    return at(cell) + HEADER_BYTES;
  }

  int length(int cell) {
    return Memory.getInt(at(cell) + 4);
  }

  int crc(int cell) {
    return Memory.getInt(at(cell) + 8);
  }

  long digest(int cell) {
    return Memory.getLong(at(cell) + 16);
  }

  long arrivedNs(int cell) {
    return Memory.getLong(at(cell) + 24);
  }

  long waitingSinceNs(int cell) {
    return Memory.getLong(at(cell) + 32);
  }
}
