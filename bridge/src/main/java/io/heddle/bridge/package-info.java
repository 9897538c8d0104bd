/**
 * A gateway between two RDMA fabrics. {@link io.heddle.bridge.Bridge} is the whole of it.
 *
 * <p>Threads: {@code heddle-bridge-data} takes packets from one fabric to the other and is alone in
 * doing so; {@code heddle-bridge-control} writes signs of life, rates and errors. What the data
 * thread decides by is one immutable {@code BridgeTables}, which the caller of a reload replaces,
 * and among several bridges {@code heddle-bridge-peers}, which sends and hears beacons.
 *
 * <p>Memory: packets lie in the receive buffers of the fabric that they came from, and leave from
 * there. Counters lie in the status file. Nothing is allocated per packet.
 */
@NullMarked
package io.heddle.bridge;

import org.jspecify.annotations.NullMarked;
