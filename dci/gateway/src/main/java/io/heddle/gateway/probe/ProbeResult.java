package io.heddle.gateway.probe;

/**
 * @param outcomes how many probes were answered or given up since the beginning
 * @param lossShare of the last hundred; NaN before the first outcome
 * @param roundTripNs the median of the last hundred, without the reflector's time; NaN without an
 *     answer among them
 * @param misses how many were given up since the last answer
 */
public record ProbeResult(long outcomes, double lossShare, double roundTripNs, int misses) {}
