package io.heddle.bridge;

import io.heddle.bridge.status.GroupCounters;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Calculator of the rates of forwarded packets and bytes, from the change of their counters between
 * two calls. Used by the control thread only.
 */
final class Rates {
  /* By slot of the status file: time of the last call, then packets and bytes of each direction. */
  private final Map<Integer, long[]> last = new LinkedHashMap<>();

  /**
   * Reads the counters of a group, and writes the rates next to them.
   *
   * @param slot index of the group in the status file
   * @param counters addresses of the counters of both directions
   */
  void update(int slot, long[] counters) {
    long now = System.nanoTime();
    long[] before = last.computeIfAbsent(slot, key -> new long[] {now, 0, 0, 0, 0});
    double seconds = Math.max(1, now - before[0]) / 1e9;
    for (int side = 0; side < counters.length; side++) {
      long packets = GroupCounters.packets(counters[side]);
      long bytes = GroupCounters.bytes(counters[side]);
      long packetRate = Math.round((packets - before[1 + 2 * side]) / seconds);
      long byteRate = Math.round((bytes - before[2 + 2 * side]) / seconds);
      if (now != before[0]) {
        GroupCounters.rates(counters[side], packetRate, byteRate);
      }
      before[1 + 2 * side] = packets;
      before[2 + 2 * side] = bytes;
    }
    before[0] = now;
  }

  /** Forgets a slot, which another group may use from now on. */
  void forget(int slot) {
    last.remove(slot);
  }
}
