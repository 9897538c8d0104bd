package io.heddle.gateway.config;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * How lists are probed (STAMP, RFC 8762).
 *
 * @param source this gateway's address, to which answers come; null where nothing is probed
 * @param reflect this gateway's address at which it answers others' probes; null for none
 * @param misses how many lost ones in a row make a list dead; 0 never
 */
public record ProbeRules(
    @Nullable InetAddress source, @Nullable InetAddress reflect, long intervalNs, int misses) {}
