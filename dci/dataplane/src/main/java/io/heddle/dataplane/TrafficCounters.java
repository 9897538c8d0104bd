package io.heddle.dataplane;

/**
 * What came in from the LAN, over all interfaces.
 *
 * @param noPolicy to destinations that no policy has
 * @param roce to queue pairs
 * @param other by the 5-tuple
 * @param steered a part of {@code roce}, which a steer chose the list of
 * @param notIp or too short to be read
 * @param held a part of {@code roce}, which stayed on the old list until a gap
 */
public record TrafficCounters(
    PacketCount noPolicy,
    PacketCount roce,
    PacketCount other,
    PacketCount steered,
    PacketCount notIp,
    PacketCount held) {}
