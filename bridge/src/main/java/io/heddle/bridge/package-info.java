/**
 * Gateway between two RDMA fabrics; its entry point is {@link io.heddle.bridge.Bridge}.
 *
 * <p>Threads: {@code heddle-bridge-data} alone forwards packets. {@code heddle-bridge-control}
 * writes heartbeats, rates and errors into the status file. With redundancy, {@code
 * heddle-bridge-peers} sends and receives beacons. The data thread reads one immutable {@code
 * BridgeTables}, which the caller of a reload and {@code heddle-bridge-peers} replace.
 *
 * <p>Memory: packets stay in the receive buffers of their source fabric, and are sent from there.
 * Counters lie in the status file. Nothing is allocated per packet.
 *
 * <p>The module's README.md lists its packages, each of which uses only those below it.
 */
@NullMarked
package io.heddle.bridge;

import org.jspecify.annotations.NullMarked;
