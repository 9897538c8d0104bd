package io.heddle.bridge;

import io.heddle.bridge.status.GroupCounters;
import java.util.LinkedHashMap;
import java.util.Map;

/** How fast packets leave, by what was counted since the look before. The control thread's. */
final class Rates {
  /* By slot: when, then packets and bytes of both directions. */
  private final Map<Integer, long[]> last = new LinkedHashMap<>();

  /**
   * Looks at the counters of a slot, and writes the rates there.
   *
   * @param counters of both directions
   */
  void look(int slot, long[] counters) {
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

  /** The slot is another's from now on. */
  void forget(int slot) {
    last.remove(slot);
  }
}
