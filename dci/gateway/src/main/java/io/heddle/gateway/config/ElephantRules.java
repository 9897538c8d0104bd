package io.heddle.gateway.config;

/**
 * Thresholds for elephants, which are flows of a high rate.
 *
 * @param bitsPerSecond rate from which a flow is an elephant; below half of this rate it no longer
 *     is
 * @param periodNs period over which the rate is measured
 * @param silenceNs idle time after which a flow is no longer an elephant
 */
public record ElephantRules(long bitsPerSecond, long periodNs, long silenceNs) {}
