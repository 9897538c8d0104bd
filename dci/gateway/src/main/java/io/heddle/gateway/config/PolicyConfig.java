package io.heddle.gateway.config;

import io.heddle.addr.AddressPrefix;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An SRv6 policy (RFC 9256, 2.1): destinations, and the segment lists to them.
 *
 * @param number in the data plane
 * @param colour 0 if not configured
 * @param endpoint null if not configured
 * @param probe address of the far gateway that reflects probes; null if lists aren't probed
 */
public record PolicyConfig(
    int number,
    String name,
    List<AddressPrefix> destinations,
    long colour,
    @Nullable String endpoint,
    @Nullable InetAddress probe,
    List<ListConfig> lists) {}
