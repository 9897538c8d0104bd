package io.heddle.gateway.config;

import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.wire.Prefix;
import java.util.List;

/**
 * BGP peer whose rules are accepted: a controller, or a route reflector in between.
 *
 * @param destinations prefixes that the peer's rules may steer; rules for others are refused
 * @param mostRules maximum number of rules from the peer
 */
public record ControllerPeer(PeerOptions options, List<Prefix> destinations, int mostRules) {
  public String name() {
    return options.name();
  }
}
