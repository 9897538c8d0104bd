package io.heddle.sim.chunks;

import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.patterns.Traffic;
import io.heddle.spray.PlaneWeights;
import java.util.function.IntFunction;

/**
 * Parameters of a simulation.
 *
 * @param policy one of {@link io.heddle.spray.SprayPolicy#NAMES}
 * @param weights announced to a connection, by its number
 * @param chunkBytes chunk size that policies prefer
 * @param packetBytes of a packet: a link starts to send a chunk once its first packet has arrived
 * @param windowBytes limit of a connection's bytes in flight
 * @param outstanding limit of a connection's messages in flight
 * @param queueChunks limit of a connection's chunks in flight per plane
 * @param timeoutNs time after which a chunk counts as lost and its plane as down; also the interval
 *     of trials of a plane that is down
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
