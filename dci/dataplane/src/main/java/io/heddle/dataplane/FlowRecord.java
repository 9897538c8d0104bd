package io.heddle.dataplane;

import java.net.InetAddress;

/**
 * The data plane's record of one queue pair's packets.
 *
 * @param policy its number
 * @param source of the last packet
 * @param sourcePort UDP source port of the last packet
 * @param bytes of IP since the first packet; each segment of a train counts with its headers
 * @param firstNs by System.nanoTime
 * @param lastNs by System.nanoTime
 * @param hash by {@link FlowHash}
 * @param list of the last packet, 0 for none
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
