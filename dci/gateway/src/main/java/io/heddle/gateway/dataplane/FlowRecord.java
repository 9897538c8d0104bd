package io.heddle.gateway.dataplane;

import java.net.InetAddress;

/**
 * Data plane's record of the packets to one queue pair.
 *
 * @param policy number of the policy
 * @param source source address of the last packet
 * @param sourcePort UDP source port of the last packet
 * @param bytes IP bytes since the first packet; each packet of a segment train counts with its
 *     headers
 * @param packets number of packets since the first
 * @param firstNs time of the first packet, by System.nanoTime
 * @param lastNs time of the last packet, by System.nanoTime
 * @param hash hash of the last packet ({@link FlowHash})
 * @param list id of the last packet's list; 0 for none
 * @param steered whether a steer chose the list
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
