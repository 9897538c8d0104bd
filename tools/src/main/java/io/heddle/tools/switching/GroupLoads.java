package io.heddle.tools.switching;

import io.heddle.fabric.model.SprayHash;
import java.util.Arrays;
import java.util.List;

/**
 * State of a group's links: up or down, bytes sent, queue length. It computes the order in which
 * SprayLink prefers the links.
 */
final class GroupLoads {
  private static final double NS_PER_SECOND = 1e9;
  private static final double KIB_BITS = 8 * 1024;

  private final List<SwitchMember> members;
  private final double[] rates;
  private final boolean[] alive;
  private final double[] sentNow;
  private final double[] queueNow;
  private final long[] sent;
  private final long[] queue;
  private SprayHash spray;
  private long sampledNs;

  GroupLoads(SwitchGroup group) {
    members = group.members();
    rates = members.stream().mapToDouble(SwitchMember::bitsPerSecond).toArray();
    spray = new SprayHash(rates);
    alive = new boolean[members.size()];
    Arrays.fill(alive, true);
    sentNow = new double[alive.length];
    queueNow = new double[alive.length];
    sent = new long[alive.length];
    queue = new long[alive.length];
  }

  private static int nsPerKib(double bitsPerSecond) {
    return (int) Math.max(1, Math.min(KIB_BITS * NS_PER_SECOND / bitsPerSecond, Integer.MAX_VALUE));
  }

  /** Sets the links' rates in bit/s. Returns whether a rate has changed. */
  boolean setRates(long[] bitsPerSecond) {
    double[] given = Arrays.stream(bitsPerSecond).asDoubleStream().toArray();
    if (Arrays.equals(given, rates)) {
      return false;
    }
    System.arraycopy(given, 0, rates, 0, rates.length);
    spray = new SprayHash(rates);
    setAlive(alive);
    return true;
  }

  void setAlive(boolean[] flags) {
    for (int i = 0; i < alive.length; i++) {
      alive[i] = flags[i];
      spray.setDown(i, !flags[i]);
    }
  }

  /**
   * Updates the loads at the end of an interval.
   *
   * @param sentBytes bytes that each member has sent since it started switching
   * @param queueBytes bytes in each member's queue now
   * @param nowNs current time of the monotonic clock
   */
  void detect(long[] sentBytes, long[] queueBytes, long nowNs) {
    for (int i = 0; i < alive.length; i++) {
      sentNow[i] = sentBytes[i] - sent[i];
      queueNow[i] = queueBytes[i];
      sent[i] = sentBytes[i];
      queue[i] = queueBytes[i];
    }
    sampledNs = nowNs;
    spray.detect(sentNow, queueNow);
  }

  /**
   * Returns whether no member has sent more bytes since the last update, and all queues were empty
   * then.
   */
  boolean isIdle(long[] sentBytes) {
    return Arrays.equals(sentBytes, sent) && Arrays.stream(queue).allMatch(each -> each == 0);
  }

  /** Returns this group's value in the BPF program's map. */
  byte[] value() {
    int[] living = new int[alive.length];
    int up = 0;
    for (int i = 0; i < alive.length; i++) {
      if (alive[i]) {
        living[up++] = i;
      }
    }
    java.nio.ByteBuffer group =
        SwitchMaps.group(
            Arrays.copyOf(living, up),
            Arrays.copyOf(spray.order(), up),
            spray.better(),
            nsPerKib(Arrays.stream(rates).average().orElseThrow()));
    for (int i = 0; i < alive.length; i++) {
      SwitchMember member = members.get(i);
      group.putLong(queue[i]).putLong(sent[i]).putLong(sampledNs);
      group.putInt(nsPerKib(rates[i])).putInt(member.mark());
    }
    return group.array();
  }
}
