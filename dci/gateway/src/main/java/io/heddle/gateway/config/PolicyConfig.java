package io.heddle.gateway.config;

import io.heddle.addr.AddressPrefix;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An SRv6 policy (RFC 9256, 2.1): where to, and the segment lists that lead there.
 *
 * @param number of the data plane's
 * @param colour 0 where none is said
 * @param endpoint null where none is said
 * @param probe the far gateway's address that reflects probes; null where lists aren't probed
 */
public record PolicyConfig(
    int number,
    String name,
    List<AddressPrefix> destinations,
    long colour,
    @Nullable String endpoint,
    @Nullable InetAddress probe,
    List<ListConfig> lists) {}
