package io.heddle.bgp.flowspec.rule;

import io.heddle.addr.AddressText;
import io.heddle.bgp.wire.Prefix;

/**
 * Fields of a flow by which rules match. Addresses are IPv6, or IPv4 mapped to IPv6 ({@link
 * Prefix}), each as its upper and lower 64 bits.
 *
 * @param protocol number of the upper-layer protocol, such as 17 for UDP
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
   * Returns the key of the packets to a queue pair. Its destination port is 4791, even if the
   * packets use another port of the soft devices' range.
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

  /** Returns whether the flow is IPv4. */
  public boolean isIpv4() {
    return Prefix.isIpv4(destinationHigh, destinationLow);
  }

  /** Returns whether the flow is RoCEv2 and so has a queue pair that rules can match. */
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
