package io.heddle.gateway.probe;

/**
 * @param outcomes number of probes answered or given up since the start
 * @param lossShare of the last hundred; NaN before the first outcome
 * @param roundTripNs median of the last hundred, without the reflector's time; NaN if none was
 *     answered
 * @param misses number given up since the last answer
 */
public record ProbeResult(long outcomes, double lossShare, double roundTripNs, int misses) {}
