package io.heddle.gateway.config;

/**
 * @param bitsPerSecond rate from which a flow is an elephant; it ends below half of it
 * @param periodNs over which the rate is measured
 * @param silenceNs silence after which it ends, whatever its rate was
 */
public record ElephantRules(long bitsPerSecond, long periodNs, long silenceNs) {}
