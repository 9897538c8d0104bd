package io.heddle.gateway.config;

import io.heddle.flowspec.rule.ComponentTypes;
import io.heddle.flowspec.session.RuleGrace;
import io.heddle.flowspec.steering.IndirectionEncoding;
import java.util.List;

/**
 * Whose rules this gateway takes by BGP, and how.
 *
 * @param routerId ours, which rules for us name; 0 where there are no peers
 * @param port on which peers may connect; 0 where nobody may
 * @param maxAgeNs after which a rule ends that nobody has announced again
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
