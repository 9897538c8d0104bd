package io.heddle.gateway.config;

import io.heddle.addr.AddressPrefix;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * SRv6 policy (RFC 9256, 2.1): destinations, and the segment lists to them.
 *
 * @param number number of the policy in the data plane
 * @param colour colour of the policy; 0 if not configured
 * @param endpoint endpoint of the policy; null if not configured
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
