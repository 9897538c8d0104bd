package io.heddle.sim.chunks;

import java.util.List;

/**
 * Result of a chunk simulation.
 *
 * @param policy policy that selected the planes
 * @param endNs time of the last acknowledgement, ns
 * @param deliveredBytes bytes of all messages
 * @param ofIdeal delivered bytes ÷ bytes that the senders' ports could have carried until the end,
 *     or the receivers' ports if these could carry less
 * @param messages number of complete messages
 * @param messageP50Ns median of the messages' times, ns
 * @param messageP99Ns 99th percentile of the messages' times, ns
 * @param messageMostNs longest time of a message, ns
 * @param messageNs quantiles of the messages' times for a plot, ns
 * @param planeShares share of each plane in the bytes
 * @param heat utilisation of the links from leaves to spines; without spines, of the links from
 *     leaves to GPUs
 * @param seriesStepNs length of a time step of the series, ns
 * @param seriesBitsPerSecond acknowledged bits per second in each time step
 * @param chunks number of chunks sent, retransmissions included
 * @param lost number of chunks that a failed link dropped
 * @param events number of simulated events
 */
public record ChunkOutcome(
    String policy,
    long endNs,
    long deliveredBytes,
    double ofIdeal,
    long messages,
    long messageP50Ns,
    long messageP99Ns,
    long messageMostNs,
    List<Long> messageNs,
    List<Double> planeShares,
    LinkHeat heat,
    long seriesStepNs,
    List<Double> seriesBitsPerSecond,
    long chunks,
    long lost,
    long events) {}
