package io.heddle.controller.model;

import java.util.Comparator;

/**
 * Key of a flow: the packets of one queue pair at one gateway.
 *
 * @param source address of the sender
 * @param destination address of the receiver; queue pair numbers are unique per destination
 */
public record FlowId(String gateway, String source, String destination, int queuePair)
    implements Comparable<FlowId> {
  private static final Comparator<FlowId> ORDER =
      Comparator.comparing(FlowId::gateway)
          .thenComparing(FlowId::destination)
          .thenComparingInt(FlowId::queuePair)
          .thenComparing(FlowId::source);

  @Override
  public int compareTo(FlowId other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return "queue pair " + queuePair + " of " + destination;
  }
}
