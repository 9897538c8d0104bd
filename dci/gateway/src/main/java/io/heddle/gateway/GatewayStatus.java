package io.heddle.gateway;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The gateway's answers on its control socket. */
public final class GatewayStatus {
  private GatewayStatus() {}

  /**
   * @param time of the sample, ISO 8601
   * @param elephants number of flows that are elephants
   */
  public record Flows(String time, long elephants, List<Flow> flows) {}

  /**
   * @param destination address of the receiver
   * @param queuePair of the receiver; unique only per destination
   * @param source of the last packet
   * @param sourcePort UDP source port of the last packet
   * @param policy its name
   * @param colour of the policy; 0 if the configuration has none
   * @param endpoint of the policy
   * @param bytes of IP since it was first seen
   * @param packets since it was first seen
   * @param bitsPerSecond of IP, over the last period
   * @param elephant whether it is one
   * @param list that its last packet took
   * @param listByHash list that its hash alone would choose now; the controller's withdrawals use
   *     it
   * @param steeredBy owner of the rule that chose the list; null if its hash did
   * @param flowLabel of the outer header
   * @param outerDestination the first segment
   * @param firstSeen ISO 8601
   * @param lastSeen ISO 8601
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
   * @param time of the sample, ISO 8601
   * @param adopted whether the data plane was at work before this process
   * @param traffic received from the LAN since the data plane started
   */
  public record Lists(String time, boolean adopted, Traffic traffic, List<SegmentList> lists) {}

  /**
   * @param rocePackets to queue pairs of a policy's destinations
   * @param otherPackets to a policy's destinations, hashed by the 5-tuple
   * @param steeredPackets packets whose list a rule chose
   * @param heldPackets packets that stayed on the old list until a gap
   * @param noPolicyPackets to other destinations
   */
  public record Traffic(
      long rocePackets,
      long otherPackets,
      long steeredPackets,
      long heldPackets,
      long noPolicyPackets) {}

  /**
   * @param id from the configuration
   * @param name from the configuration
   * @param policy that it belongs to
   * @param alive whether it gets traffic
   * @param reason why not; null if it does
   * @param weight from the configuration
   * @param buckets of the policy's 256 that use it now
   * @param segments in the order in which packets visit them
   * @param device outgoing interface
   * @param mtuBytes the largest packet from the LAN that fits; 0 if the device is missing
   * @param packets since the data plane started
   * @param bytes of IP, without the encapsulation
   * @param bitsPerSecond likewise, between the last two samples
   * @param elephants number of elephants on it
   * @param lossShare of the last hundred probes; null if none has an outcome
   * @param roundTripUs median of the last hundred probes; null if none was answered
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
   * @param time of the sample, ISO 8601
   */
  public record Rules(String time, List<Rule> rules) {}

  /**
   * @param destination its address
   * @param queuePair that is steered
   * @param source null for any
   * @param list target
   * @param active whether packets follow it
   * @param reason why not; null if they do
   * @param setBy its owner
   * @param used whether packets of the queue pair are seen
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
   * @param peers controllers, or route reflectors in between
   */
  public record Peers(List<Peer> peers) {}

  /**
   * @param name from the configuration
   * @param address of the peer
   * @param state of the BGP session, by RFC 4271
   * @param rules received from it and valid here
   * @param accepted number of accepted announcements
   * @param delayed number of announcements that had to wait
   * @param refused number of refused announcements by reason
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
   * @param done sentence on the completed action
   */
  public record OrderResult(String done) {}
}
