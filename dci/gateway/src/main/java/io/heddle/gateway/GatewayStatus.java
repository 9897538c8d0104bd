package io.heddle.gateway;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Answers of the gateway on its control socket. */
public final class GatewayStatus {
  private GatewayStatus() {}

  /**
   * Flows of a sample.
   *
   * @param time time of the sample, ISO 8601
   * @param elephants number of flows that are elephants
   * @param flows flows, the fastest first
   */
  public record Flows(String time, long elephants, List<Flow> flows) {}

  /**
   * Packets to one queue pair.
   *
   * @param destination address of the receiver
   * @param queuePair queue pair of the receiver; unique only per destination
   * @param source source address of the last packet
   * @param sourcePort UDP source port of the last packet
   * @param policy name of the policy
   * @param colour colour of the policy; 0 if the configuration has none
   * @param endpoint endpoint of the policy; null if the configuration has none
   * @param bytes IP bytes since the flow was first seen
   * @param packets packets since the flow was first seen
   * @param bitsPerSecond rate of IP bits over the last period
   * @param elephant whether the flow is an elephant
   * @param list name of the list that the last packet was sent over
   * @param listByHash name of the list that the flow's hash alone would choose now; a controller
   *     needs it to decide on withdrawals
   * @param steeredBy owner of the rule that chose the list; null if the hash did
   * @param flowLabel flow label in the outer header
   * @param outerDestination first segment of the list
   * @param firstSeen time of the first packet, ISO 8601
   * @param lastSeen time of the last packet, ISO 8601
   */
  public record Flow(
      String destination,
      int queuePair,
      String source,
      int sourcePort,
      String policy,
      long colour,
      @Nullable String endpoint,
      long bytes,
      long packets,
      long bitsPerSecond,
      boolean elephant,
      String list,
      String listByHash,
      @Nullable String steeredBy,
      int flowLabel,
      @Nullable String outerDestination,
      String firstSeen,
      String lastSeen) {}

  /**
   * Segment lists of a sample.
   *
   * @param time time of the sample, ISO 8601
   * @param adopted whether the data plane ran before this process
   * @param traffic traffic received from the LAN since the data plane started
   * @param lists segment lists, by policy
   */
  public record Lists(String time, boolean adopted, Traffic traffic, List<SegmentList> lists) {}

  /**
   * Packets by the choice of their list.
   *
   * @param rocePackets RoCE packets to a policy's destinations
   * @param otherPackets other packets to a policy's destinations, hashed by the 5-tuple
   * @param steeredPackets packets whose list a rule chose
   * @param heldPackets packets that stayed on the old list until a gap
   * @param noPolicyPackets packets to other destinations
   */
  public record Traffic(
      long rocePackets,
      long otherPackets,
      long steeredPackets,
      long heldPackets,
      long noPolicyPackets) {}

  /**
   * Segment list of a policy.
   *
   * @param id id in the configuration
   * @param name name in the configuration
   * @param policy name of the list's policy
   * @param alive whether the list gets traffic
   * @param reason reason why the list is dead; null if it is alive
   * @param weight weight in the configuration
   * @param buckets number of the policy's 256 hash buckets that use the list now
   * @param segments segments in the order in which packets visit them
   * @param device outgoing interface
   * @param mtuBytes largest packet from the LAN that fits; 0 if the device is missing
   * @param packets packets since the data plane started
   * @param bytes IP bytes without the encapsulation, since the data plane started
   * @param bitsPerSecond rate of IP bits without the encapsulation, between the last two samples
   * @param elephants number of elephants on the list
   * @param lossShare share of the last hundred probes that were lost, 0 to 1; null if none has an
   *     outcome
   * @param roundTripUs median round-trip time of the last hundred probes in microseconds; null if
   *     none was answered
   */
  public record SegmentList(
      int id,
      String name,
      String policy,
      boolean alive,
      @Nullable String reason,
      int weight,
      int buckets,
      List<String> segments,
      String device,
      int mtuBytes,
      long packets,
      long bytes,
      long bitsPerSecond,
      long elephants,
      @Nullable Double lossShare,
      @Nullable Double roundTripUs) {}

  /**
   * Steers that an operator or a controller wants.
   *
   * @param time time of the sample, ISO 8601
   * @param rules steers, by destination and queue pair
   */
  public record Rules(String time, List<Rule> rules) {}

  /**
   * Steer of one queue pair.
   *
   * @param destination address of the receiver
   * @param queuePair queue pair that is steered
   * @param source address of the sender; null for any
   * @param list name of the list that the queue pair is steered to
   * @param active whether packets are steered
   * @param reason reason why packets aren't steered; null if they are
   * @param setBy owner of the steer: the operator or a controller
   * @param used whether the last sample has packets to the queue pair
   */
  public record Rule(
      String destination,
      int queuePair,
      @Nullable String source,
      String list,
      boolean active,
      @Nullable String reason,
      String setBy,
      boolean used) {}

  /**
   * Sessions with controllers.
   *
   * @param peers controllers, or route reflectors in between
   */
  public record Peers(List<Peer> peers) {}

  /**
   * BGP session with a controller.
   *
   * @param name name in the configuration
   * @param address address of the peer
   * @param state state of the BGP session, as in RFC 4271
   * @param rules number of valid rules from the peer
   * @param accepted number of accepted announcements
   * @param delayed number of announcements that had to wait
   * @param refused numbers of refused announcements by reason
   */
  public record Peer(
      String name,
      String address,
      String state,
      int rules,
      long accepted,
      long delayed,
      Map<String, Long> refused) {}

  /**
   * Result of an operator's order.
   *
   * @param done sentence that describes the completed action
   */
  public record OrderResult(String done) {}
}
