package io.heddle.gateway.config;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Probe settings of lists (STAMP, RFC 8762).
 *
 * @param source this gateway's address that sends probes and receives answers; null if nothing is
 *     probed
 * @param reflect this gateway's address that answers other gateways' probes; null for none
 * @param intervalNs interval of the probes of each list
 * @param misses number of consecutive lost probes that make a list dead; 0 for never
 */
public record ProbeRules(
    @Nullable InetAddress source, @Nullable InetAddress reflect, long intervalNs, int misses) {}
