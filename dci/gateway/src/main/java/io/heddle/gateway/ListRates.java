package io.heddle.gateway;

import io.heddle.gateway.dataplane.PacketCount;
import java.util.Map;
import java.util.TreeMap;

/** Calculator of the traffic rate of each list between samples. Used by one thread at a time. */
final class ListRates {
  private static final double BITS_NS_PER_BYTE_S = 8e9;

  private Map<Integer, PacketCount> counts;
  private long lastNs;

  ListRates(Map<Integer, PacketCount> counts, long nowNs) {
    this.counts = counts;
    lastNs = nowNs;
  }

  /** Returns the counts of the last sample, by list id. */
  Map<Integer, PacketCount> counts() {
    return counts;
  }

  /** Returns bits per second since the last sample, by list id. */
  Map<Integer, Long> sample(Map<Integer, PacketCount> newest, long nowNs) {
    Map<Integer, Long> rates = new TreeMap<>();
    newest.forEach((list, count) -> {
      long bytes = count.bytes() - counts.getOrDefault(list, PacketCount.NONE).bytes();
      rates.put(list, (long) (bytes * BITS_NS_PER_BYTE_S / Math.max(1, nowNs - lastNs)));
    });
    counts = newest;
    lastNs = nowNs;
    return rates;
  }
}
