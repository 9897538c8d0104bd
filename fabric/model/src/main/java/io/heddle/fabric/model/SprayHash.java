package io.heddle.fabric.model;

import java.util.Arrays;

/**
 * Link selection of SprayLink (H3C's white paper 6W100) for one group of links of one switch. It
 * has three parts: detection of each member's load by moving averages, selection by hash among the
 * better half of the members, and correction towards the best member. Values that the paper leaves
 * open are chosen here. For one thread.
 */
public final class SprayHash {
  /** Weight of the newest interval in the moving averages. The paper leaves it open. */
  private static final double NEWEST = 0.25;

  /**
   * Weight of the bytes, and likewise of the queue, in a member's load. The paper leaves it open.
   */
  private static final double HALF = 0.5;

  private final double[] capacities;
  private final double[] bytes;
  private final double[] queues;
  private final boolean[] down;
  private final Integer[] order;
  private int better;

  /**
   * @param capacities capacity of each member, in any common unit
   */
  public SprayHash(double... capacities) {
    this.capacities = capacities.clone();
    int members = new EcmpGroup(capacities.length).members();
    if (Arrays.stream(capacities).anyMatch(each -> !(each > 0))) {
      throw new IllegalArgumentException(
          "a member without capacity: " + Arrays.toString(capacities));
    }
    bytes = new double[members];
    queues = new double[members];
    down = new boolean[members];
    order = new Integer[members];
    sort();
  }

  /**
   * Updates the loads at the end of an interval.
   *
   * @param sentBytes bytes that each member sent in the interval
   * @param queuedBytes bytes in each member's queue now
   */
  public void detect(double[] sentBytes, double[] queuedBytes) {
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] += NEWEST * (sentBytes[i] / capacities[i] - bytes[i]);
      queues[i] += NEWEST * (queuedBytes[i] - queues[i]);
    }
    sort();
  }

  /**
   * Sets whether a member's link is down. A member that is down is never selected while another is
   * up.
   */
  public void setDown(int member, boolean isDown) {
    down[member] = isDown;
    sort();
  }

  /** Returns the members by load, the least loaded first. Members that are down are last. */
  public int[] order() {
    int[] members = new int[order.length];
    Arrays.setAll(members, i -> order[i]);
    return members;
  }

  /**
   * Returns the number of members at the beginning of {@link #order} among which a hash selects.
   */
  public int better() {
    return better;
  }

  /**
   * Returns the member that a hash selects among the better half, that is, the less loaded half of
   * the members that are up.
   */
  public int select(int hash) {
    return order[new EcmpGroup(better).offset(hash)];
  }

  /**
   * Returns the member that a hash selects or, as a correction, the best member. The best member is
   * the one over which the packet's transmission would end first. It is returned only if the
   * transmission would end earlier by more than half a packet's time. All members that are up are
   * compared, since {@link #order} may be outdated by up to an interval.
   *
   * @param backlogBytes bytes in each member's queue now
   * @param lengthBytes length of the packet
   */
  public int select(int hash, double[] backlogBytes, double lengthBytes) {
    int selected = select(hash);
    int best = selected;
    double own = (backlogBytes[selected] + lengthBytes) / capacities[selected];
    double least = own;
    for (int member = 0; member < capacities.length; member++) {
      double time = (backlogBytes[member] + lengthBytes) / capacities[member];
      if (time < least && !down[member]) {
        least = time;
        best = member;
      }
    }
    double mean = Arrays.stream(capacities).average().orElseThrow();
    return own - least > HALF * lengthBytes / mean ? best : selected;
  }

  private double score(int member) {
    double allBytes = Arrays.stream(bytes).sum();
    double allQueues = Arrays.stream(queues).sum();
    return (allBytes > 0 ? HALF * bytes[member] / allBytes : 0)
        + (allQueues > 0 ? HALF * queues[member] / allQueues : 0);
  }

  private void sort() {
    Arrays.setAll(order, i -> i);
    double[] scores = new double[order.length];
    Arrays.setAll(scores, this::score);
    Arrays.sort(
        order,
        (left, right) ->
            down[left] == down[right]
                ? Double.compare(scores[left], scores[right])
                : Boolean.compare(down[left], down[right]));
    int up = 0;
    for (boolean each : down) {
      up += each ? 0 : 1;
    }
    better = Math.max(1, (up + 1) / 2);
  }
}
