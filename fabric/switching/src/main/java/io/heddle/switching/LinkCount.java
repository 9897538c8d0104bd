package io.heddle.switching;

/**
 * RoCEv2 traffic that a switch has sent by one of its equal links since it started switching.
 *
 * @param at the switch's name
 * @param to prefix of the destinations
 * @param link the interface
 * @param alive whether it may be chosen
 * @param markedPackets data packets; a train counts as its packets
 * @param markedBytes of them, with headers; a train's headers count once
 * @param otherPackets protocol packets, and all packets of peers without marks
 * @param otherBytes of them
 * @param correctedPackets data packets, or trains, that were moved here from a more loaded link
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
