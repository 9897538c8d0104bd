package io.heddle.gateway.config;

/**
 * @param bitsPerSecond rate from which a flow is an elephant; below half of it the flow no longer
 *     is
 * @param periodNs over which the rate is measured
 * @param silenceNs idle time after which a flow is no longer an elephant
 */
public record ElephantRules(long bitsPerSecond, long periodNs, long silenceNs) {}
