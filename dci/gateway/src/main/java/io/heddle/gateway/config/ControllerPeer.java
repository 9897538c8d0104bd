package io.heddle.gateway.config;

import io.heddle.bgp.wire.Prefix;
import java.net.Inet6Address;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A BGP peer whose rules are accepted: a controller, or a route reflector in between.
 *
 * @param local our address of the session; null for the kernel's choice
 * @param destinations prefixes that it may steer; rules for others are refused
 * @param passive whether only the peer connects
 */
public record ControllerPeer(
    String name,
    Inet6Address address,
    int port,
    long as,
    @Nullable Inet6Address local,
    List<Prefix> destinations,
    String md5Key,
    int gtsmHops,
    int mostRules,
    boolean passive) {}
