package io.heddle.gateway;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a gateway answers, as it is printed. */
public final class GatewayStatus {
  private GatewayStatus() {}

  /**
   * @param time of the look, ISO 8601
   * @param elephants how many of the flows are
   */
  public record Flows(String time, long elephants, List<Flow> flows) {}

  /**
   * @param destination its address
   * @param queuePair that packets go to; unique for its destination only
   * @param source of the last packet
   * @param sourcePort of the last packet, UDP
   * @param policy its name
   * @param colour of the policy, 0 where the configuration says none
   * @param endpoint of the policy
   * @param bytes of IP since it was first seen
   * @param packets since it was first seen
   * @param bitsPerSecond of IP, over the last period
   * @param elephant whether it is one
   * @param list that its last packet went by
   * @param listByHash that its hash alone would give it now; a withdrawal is decided by it
   * @param steeredBy whose rule chose the list; null where its hash did
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
   * @param time of the look, ISO 8601
   * @param adopted whether the data plane was at work before this process was
   * @param traffic what came in from the LAN since the data plane began
   */
  public record Lists(String time, boolean adopted, Traffic traffic, List<SegmentList> lists) {}

  /**
   * @param rocePackets to queue pairs of a policy's destinations
   * @param otherPackets to a policy's destinations, by the 5-tuple
   * @param steeredPackets whose list a rule chose
   * @param heldPackets that stayed on the old list until a gap
   * @param noPolicyPackets to other destinations
   */
  public record Traffic(
      long rocePackets,
      long otherPackets,
      long steeredPackets,
      long heldPackets,
      long noPolicyPackets) {}

  /**
   * @param id of the configuration
   * @param name of the configuration
   * @param policy that it belongs to
   * @param alive whether it gets traffic
   * @param reason why not; null where it does
   * @param weight of the configuration
   * @param buckets of the policy's 256 that go by it now
   * @param segments in the order in which packets meet them
   * @param device by which it leaves
   * @param mtuBytes the largest packet from the LAN that fits; 0 where the device is missing
   * @param packets since the data plane began
   * @param bytes of IP, without the encapsulation
   * @param bitsPerSecond likewise, between the last two looks
   * @param elephants how many go by it
   * @param lossShare of the last hundred probes; null where none is over
   * @param roundTripUs the median of the last hundred probes; null where none was answered
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
   * @param time of the look, ISO 8601
   */
  public record Rules(String time, List<Rule> rules) {}

  /**
   * @param destination its address
   * @param queuePair that is steered
   * @param source null for any
   * @param list where to
   * @param active whether packets obey it
   * @param reason why not; null where they do
   * @param setBy who wanted it
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
   * @param peers controllers, or reflectors between
   */
  public record Peers(List<Peer> peers) {}

  /**
   * @param name of the configuration
   * @param address of the peer
   * @param state of the BGP session, by RFC 4271
   * @param rules that it has here
   * @param accepted announcements that were taken
   * @param delayed announcements that had to wait for their turn
   * @param refused how many announcements were refused, by why
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
   * @param done what was done, a sentence
   */
  public record Done(String done) {}
}
