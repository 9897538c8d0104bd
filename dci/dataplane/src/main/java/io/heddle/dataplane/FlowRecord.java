package io.heddle.dataplane;

import java.net.InetAddress;

/**
 * What the data plane knows of one queue pair's packets.
 *
 * @param policy its number
 * @param source of the last packet
 * @param sourcePort of the last packet, UDP
 * @param bytes of IP since it was seen first, each packet of a train with its headers
 * @param firstNs by System.nanoTime
 * @param lastNs by System.nanoTime
 * @param hash as {@link FlowHash} has it
 * @param list that the last packet went by, 0 for none
 * @param steered whether a steer chose it
 */
public record FlowRecord(
    InetAddress destination,
    int queuePair,
    int policy,
    InetAddress source,
    int sourcePort,
    long bytes,
    long packets,
    long firstNs,
    long lastNs,
    int hash,
    int list,
    boolean steered) {}
