package io.heddle.controller.model;

import java.util.Comparator;

/**
 * Key of a flow, which is the packets from one host to one queue pair, over one gateway.
 *
 * @param source address of the sender
 * @param destination address of the receiver
 * @param queuePair number of the receiver's queue pair; unique only per destination
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
