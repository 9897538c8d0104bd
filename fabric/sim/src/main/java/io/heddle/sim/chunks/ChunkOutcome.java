package io.heddle.sim.chunks;

import java.util.List;

/**
 * Result of a chunk simulation.
 *
 * @param policy that chose planes
 * @param endNs time of the last acknowledgement
 * @param deliveredBytes of all messages
 * @param ofIdeal delivered bytes ÷ the capacity until then of the senders' ports, or of the
 *     receivers' if that is less
 * @param messages that are complete
 * @param messageP50Ns median of the messages' times
 * @param messageP99Ns 99th percentile
 * @param messageMostNs the longest
 * @param messageNs quantiles of the messages' times, for a plot
 * @param planeShares of the bytes, by plane
 * @param heat of the links that a leaf chooses from
 * @param seriesStepNs length of a step of the series
 * @param seriesBitsPerSecond acknowledged in each step
 * @param chunks that were sent, retransmissions included
 * @param lost chunks that black holes dropped
 * @param events that were taken from the calendar
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
