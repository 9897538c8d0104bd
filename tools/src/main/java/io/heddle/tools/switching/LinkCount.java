package io.heddle.tools.switching;

/**
 * Counts of the RoCEv2 traffic that a switch has sent over one of its equal links since it started
 * switching.
 *
 * @param at name of the switch
 * @param to prefix of the destinations
 * @param link name of the link's interface
 * @param alive whether the link may be selected
 * @param markedPackets number of data packets; each packet of a segment train counts
 * @param markedBytes bytes of data packets with headers; a segment train's headers count once
 * @param otherPackets number of protocol packets, and of all packets of peers that don't mark data
 *     packets
 * @param otherBytes bytes of these packets
 * @param correctedPackets number of data packets, or segment trains, that were moved to this link
 *     from a more loaded one
 */
public record LinkCount(
    String at,
    String to,
    String link,
    boolean alive,
    long markedPackets,
    long markedBytes,
    long otherPackets,
    long otherBytes,
    long correctedPackets) {}
