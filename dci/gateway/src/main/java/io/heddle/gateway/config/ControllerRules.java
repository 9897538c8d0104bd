package io.heddle.gateway.config;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.session.RuleGrace;
import io.heddle.bgp.flowspec.steering.IndirectionEncoding;
import java.util.List;

/**
 * Settings of the BGP sessions with controllers.
 *
 * @param routerId router id of this gateway, which the rules for this gateway contain; 0 if there
 *     are no peers
 * @param as number of this gateway's autonomous system
 * @param port port for incoming connections; 0 to accept none
 * @param maxAgeNs age at which a rule ends unless it is announced again
 */
public record ControllerRules(
    int routerId,
    long as,
    int port,
    RuleGrace grace,
    long maxAgeNs,
    ComponentTypes types,
    IndirectionEncoding encoding,
    List<ControllerPeer> peers) {}
