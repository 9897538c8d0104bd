package io.heddle.dataplane;

/**
 * Traffic received from the LAN, over all interfaces.
 *
 * @param noPolicy to destinations without a policy
 * @param roce to queue pairs
 * @param other hashed by the 5-tuple
 * @param steered part of {@code roce} whose list a steer chose
 * @param notIp not IP, or too short to parse
 * @param held part of {@code roce} that stayed on the old list until a gap
 */
public record TrafficCounters(
    PacketCount noPolicy,
    PacketCount roce,
    PacketCount other,
    PacketCount steered,
    PacketCount notIp,
    PacketCount held) {}
