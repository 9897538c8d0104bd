package io.heddle.sim.chunks;

import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.patterns.Traffic;
import io.heddle.spray.PlaneWeights;
import java.util.function.IntFunction;

/**
 * Parameters of a chunk simulation.
 *
 * @param policy name of the policy, one of {@link io.heddle.spray.SprayPolicy#NAMES}
 * @param weights function from a connection's number to the weights announced to the connection
 * @param chunkBytes chunk size that policies prefer
 * @param packetBytes size of a packet. A link starts to send a chunk once the chunk's first packet
 *     has arrived.
 * @param windowBytes largest number of bytes that a connection may have in flight
 * @param outstanding largest number of messages that a connection may have in flight
 * @param queueChunks largest number of chunks that a connection may have in flight on one plane
 * @param timeoutNs time after which a chunk counts as lost and its plane as down; also the time
 *     between two trials of a plane that is down
 */
public record ChunkSetting(
    ClosFabric fabric,
    Traffic traffic,
    String policy,
    IntFunction<PlaneWeights> weights,
    int chunkBytes,
    int packetBytes,
    long windowBytes,
    int outstanding,
    int queueChunks,
    long timeoutNs,
    Switching switching,
    long seed) {}
