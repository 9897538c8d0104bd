package io.heddle.flowspec.rule;

import io.heddle.addr.AddressText;
import io.heddle.bgp.wire.Prefix;

/**
 * The known fields of a flow, for matching rules. Addresses are IPv6, or IPv4 mapped ({@link
 * Prefix}), as their upper and lower 64 bits.
 *
 * @param protocol the upper-layer protocol: 17 for UDP
 * @param queuePair RoCEv2's destination queue pair; {@link #NONE} for other traffic
 */
public record FlowKey(
    long sourceHigh,
    long sourceLow,
    long destinationHigh,
    long destinationLow,
    int protocol,
    int sourcePort,
    int destinationPort,
    int queuePair) {
  public static final int NONE = -1;
  public static final int UDP = 17;
  public static final int ROCE_V2_PORT = 4791;
  public static final int MOST_QUEUE_PAIR = 0xff_ffff;

  /**
   * Returns the key of a queue pair's packets: UDP to port 4791, in place of any port of the soft
   * device's range.
   */
  public static FlowKey queuePair(Prefix source, Prefix destination, int sourcePort, int number) {
    return new FlowKey(
        source.high(),
        source.low(),
        destination.high(),
        destination.low(),
        UDP,
        sourcePort,
        ROCE_V2_PORT,
        number);
  }

  /** Returns whether it is IPv4. */
  public boolean isIpv4() {
    return Prefix.isIpv4(destinationHigh, destinationLow);
  }

  /** Returns whether it has a queue pair that rules can match. */
  public boolean isRoce() {
    return protocol == UDP && destinationPort == ROCE_V2_PORT && queuePair != NONE;
  }

  @Override
  public String toString() {
    String from = text(sourceHigh, sourceLow);
    String to = text(destinationHigh, destinationLow);
    return isRoce()
        ? "queue pair %s of %s from %s".formatted(queuePair, to, from)
        : "protocol %s from %s port %s to %s port %s"
            .formatted(protocol, from, sourcePort, to, destinationPort);
  }

  private static String text(long high, long low) {
    return AddressText.of(new Prefix(high, low, Prefix.MAX_LENGTH).inetAddress());
  }
}
