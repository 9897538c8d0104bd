package io.heddle.sim.chunks;

import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.patterns.Traffic;
import io.heddle.spray.PlaneWeights;
import java.util.function.IntFunction;

/**
 * What is simulated.
 *
 * @param policy one of {@link io.heddle.spray.SprayPolicy#NAMES}
 * @param weights that are announced to a connection, by its number
 * @param chunkBytes that policies like best
 * @param packetBytes of a packet: a link begins with a chunk once its first packet is there
 * @param windowBytes that a connection may have under way
 * @param outstanding messages that a connection may have under way
 * @param queueChunks that a connection may have under way on one plane
 * @param timeoutNs after which a chunk counts as lost, and its plane as down; and after which a
 *     plane that is down is tried again
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
