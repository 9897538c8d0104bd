package io.heddle.gateway.probe;

/**
 * Result of the probes of one list.
 *
 * @param outcomes number of probes answered or lost since the start
 * @param lossShare share of the last hundred probes that were lost, 0 to 1; NaN before the first
 *     outcome
 * @param roundTripNs median round-trip time of the last hundred probes, without the reflector's
 *     time; NaN if none was answered
 * @param misses number of probes lost since the last answer
 */
public record ProbeResult(long outcomes, double lossShare, double roundTripNs, int misses) {}
