package io.heddle.gateway.config;

import io.heddle.bgp.wire.Prefix;
import java.net.Inet6Address;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * BGP peer whose rules are accepted: a controller, or a route reflector in between.
 *
 * @param local this gateway's address of the session; null for the kernel's choice
 * @param destinations prefixes that the peer's rules may steer; rules for others are refused
 * @param md5Key key of TCP-MD5 (RFC 2385); empty for none
 * @param gtsmHops maximum distance of the peer in hops (RFC 5082); 0 for no check
 * @param mostRules maximum number of rules from the peer
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
