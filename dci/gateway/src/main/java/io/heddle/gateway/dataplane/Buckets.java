package io.heddle.gateway.dataplane;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Assignment of a policy's hash buckets to segment lists.
 *
 * <p>Every list owns buckets in proportion to its weight, whether it is alive or not. Each bucket
 * of a dead list is lent to a living list, chosen by weighted rendezvous hashing (highest random
 * weight). So the buckets of living lists never change when another list dies or comes back.
 */
public final class Buckets {
  private final byte[] lists;

  private Buckets(byte[] lists) {
    this.lists = lists;
  }

  /**
   * @param lists for each bucket, one byte with the id of its list
   */
  public static Buckets of(byte[] lists) {
    if (lists.length != FlowHash.BUCKETS) {
      throw new IllegalArgumentException(lists.length + " buckets, not " + FlowHash.BUCKETS);
    }
    return new Buckets(lists.clone());
  }

  /**
   * @param weights weight of each list, at least 1, by list id
   * @param alive ids of living lists; if empty, all buckets are 0, which means no list
   */
  public static Buckets ofWeights(Map<Integer, Integer> weights, Set<Integer> alive) {
    Map<Integer, Integer> sorted = new TreeMap<>(weights);
    byte[] owners = owners(sorted);
    for (int i = 0; i < owners.length; i++) {
      if (!alive.contains((int) owners[i])) {
        owners[i] = (byte) borrower(i, sorted, alive);
      }
    }
    return new Buckets(owners);
  }

  /*
   * Returns the owner of each bucket. Buckets are shared by the largest-remainder method. Each
   * list's buckets are contiguous, which is no disadvantage since hash values are spread evenly.
   */
  private static byte[] owners(Map<Integer, Integer> weights) {
    long sum = weights.values().stream().mapToLong(Integer::longValue).sum();
    Map<Integer, Integer> shares = new TreeMap<>();
    weights.forEach(
        (list, weight) -> shares.put(list, (int) ((long) weight * FlowHash.BUCKETS / sum)));
    int left = FlowHash.BUCKETS - shares.values().stream().mapToInt(Integer::intValue).sum();
    List<Integer> byRemainder =
        weights.keySet().stream()
            .sorted(
                Comparator.comparingLong((Integer list) ->
                        -((long) weights.getOrDefault(list, 0) * FlowHash.BUCKETS % sum))
                    .thenComparingInt(list -> list))
            .limit(left)
            .toList();
    byRemainder.forEach(list -> shares.merge(list, 1, Integer::sum));
    byte[] owners = new byte[FlowHash.BUCKETS];
    int at = 0;
    for (Map.Entry<Integer, Integer> share : shares.entrySet()) {
      Arrays.fill(owners, at, at + share.getValue(), share.getKey().byteValue());
      at += share.getValue();
    }
    return owners;
  }

  private static int borrower(int bucket, Map<Integer, Integer> weights, Set<Integer> alive) {
    int best = 0;
    double highest = Double.NEGATIVE_INFINITY;
    for (Map.Entry<Integer, Integer> each : weights.entrySet()) {
      if (alive.contains(each.getKey())) {
        double score = each.getValue() / -Math.log(draw(bucket, each.getKey()));
        if (score > highest) {
          highest = score;
          best = each.getKey();
        }
      }
    }
    return best;
  }

  /*
   * Returns a pseudo-random number between 0 and 1, which every gateway computes alike from bucket
   * and list.
   */
  private static double draw(int bucket, int list) {
    long mixed = (bucket * 65_537L + list + 1) * 0x9e3779b97f4a7c15L;
    mixed = (mixed ^ mixed >>> 30) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
    return ((mixed >>> 11) + 0.5) / (1L << 53);
  }

  /** Returns the id of a bucket's list; 0 if no list is alive. */
  public int list(int bucket) {
    return lists[bucket];
  }

  public byte[] toBytes() {
    return lists.clone();
  }

  /** Returns the number of buckets that each list has now, by list id. */
  public Map<Integer, Integer> counts() {
    Map<Integer, Integer> counts = new TreeMap<>();
    for (byte list : lists) {
      counts.merge((int) list, 1, Integer::sum);
    }
    return counts;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Buckets buckets && Arrays.equals(lists, buckets.lists);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(lists);
  }

  @Override
  public String toString() {
    return counts().toString();
  }
}
