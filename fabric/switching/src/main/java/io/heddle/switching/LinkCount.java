package io.heddle.switching;

/**
 * What a switch has sent by one of its equal links, RoCEv2 alone, since it was told to switch.
 *
 * @param at the switch's name
 * @param to prefix of the destinations
 * @param link the interface
 * @param alive whether it may be chosen
 * @param markedPackets data packets; a train counts as its packets
 * @param markedBytes of them, with headers; those of a train once
 * @param otherPackets protocol packets, and all of peers that mark nothing
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
