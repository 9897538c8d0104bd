package io.heddle.sim.chunks;

import java.util.List;

/**
 * What came of a simulation of chunks.
 *
 * @param policy that chose planes
 * @param endNs when the last acknowledgement came
 * @param deliveredBytes of all messages
 * @param ofIdeal delivered bytes ÷ what the ports could have carried until then, at the end that
 *     has less of them
 * @param messages that are through
 * @param messageP50Ns which half of the messages' times don't exceed
 * @param messageP99Ns which 99 in 100 don't exceed
 * @param messageMostNs the longest
 * @param messageNs the messages' times at equal parts of all, for a plot
 * @param planeShares of the bytes, by plane
 * @param heat of the links that a leaf chooses from
 * @param seriesStepNs length of a step of the series
 * @param seriesBitsPerSecond acknowledged in each step
 * @param chunks that were sent, those that were sent again included
 * @param lost chunks that black holes swallowed
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
