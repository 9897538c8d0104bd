package io.heddle.gateway.config;

/**
 * @param bitsPerSecond at which a flow becomes an elephant; at less than half of it it ends
 * @param periodNs over which the rate is measured
 * @param silenceNs after which it ends whatever its rate was
 */
public record ElephantRules(long bitsPerSecond, long periodNs, long silenceNs) {}
