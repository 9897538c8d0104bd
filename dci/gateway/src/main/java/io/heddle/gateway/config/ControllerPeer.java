package io.heddle.gateway.config;

import io.heddle.bgp.wire.Prefix;
import java.net.Inet6Address;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A BGP peer whose rules are taken: a controller, or a reflector between.
 *
 * @param local our address towards it; null for the kernel's choice
 * @param destinations where it may steer; a rule for any other destination is refused
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
