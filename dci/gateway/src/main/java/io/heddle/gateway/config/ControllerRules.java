package io.heddle.gateway.config;

import io.heddle.flowspec.rule.ComponentTypes;
import io.heddle.flowspec.session.RuleGrace;
import io.heddle.flowspec.steering.IndirectionEncoding;
import java.util.List;

/**
 * BGP peers whose rules this gateway accepts, and the session settings.
 *
 * @param routerId this gateway's router id, which its rules name; 0 if there are no peers
 * @param port for incoming connections; 0 to accept none
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
