package io.heddle.gateway.dataplane;

/**
 * Counters of the traffic received from all LAN interfaces.
 *
 * @param noPolicy traffic to destinations without a policy
 * @param roce RoCEv2 traffic
 * @param other other traffic, whose hash has no queue pair
 * @param steered part of {@code roce} whose list a steer chose
 * @param notIp packets that aren't IP, or are too short to parse
 * @param held part of {@code roce} that stayed on the queue pair's old list while a move waited for
 *     a gap
 */
public record TrafficCounters(
    PacketCount noPolicy,
    PacketCount roce,
    PacketCount other,
    PacketCount steered,
    PacketCount notIp,
    PacketCount held) {}
