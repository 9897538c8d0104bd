package io.heddle.bgp.flowspec.session;

import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.steering.SteeringAttributes;
import io.heddle.bgp.flowspec.wire.FlowspecCodec;
import io.heddle.bgp.session.Negotiated;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.session.SessionEnd;
import io.heddle.bgp.session.SessionListener;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.FamilyRoutes;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.UpdateMessage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Announcer of a controller's rules to every session. When a session comes up or its peer requests
 * a refresh, the announcer sends all rules; afterwards it sends each change. Runs on the BGP
 * speaker's thread.
 */
public final class RuleAnnouncer implements SessionListener {
  /**
   * Target of a rule's traffic.
   *
   * @param list id of the segment list at the gateway
   * @param gateway router id of the gateway
   */
  public record Target(int list, int gateway) {}

  private final List<FlowspecCodec> codecs;
  private final SteeringAttributes steering;
  private final Map<FlowRule, Target> rules = new LinkedHashMap<>();
  private final Set<PeerSession> up = new LinkedHashSet<>();

  public RuleAnnouncer(FlowspecCodec codec, SteeringAttributes steering) {
    this(List.of(codec), steering);
  }

  /**
   * @param codecs codecs of the address families that rules may belong to
   */
  public RuleAnnouncer(List<FlowspecCodec> codecs, SteeringAttributes steering) {
    this.codecs = List.copyOf(codecs);
    this.steering = steering;
  }

  private FlowspecCodec codec(FlowRule rule) {
    for (FlowspecCodec each : codecs) {
      if (each.ipv4() == rule.isIpv4()) {
        return each;
      }
    }
    throw new IllegalArgumentException(
        "no session supports the address family of the rule " + rule);
  }

  /**
   * Announces a rule, or changes the list of an announced rule.
   *
   * @throws IllegalArgumentException if the rule is already announced for another gateway, since
   *     both announcements would be one BGP route; or if there is no codec for the rule's family
   */
  public void announce(FlowRule rule, Target target) {
    FlowspecCodec codec = codec(rule);
    Target before = rules.get(rule);
    if (before != null && before.gateway() != target.gateway()) {
      throw new IllegalArgumentException(
          "the rule \"" + rule + "\" belongs to another gateway; add the source to it");
    }
    if (!target.equals(before)) {
      rules.put(rule, target);
      up.forEach(session -> send(session, codec, List.of(rule), target));
    }
  }

  /** Withdraws a rule; does nothing if it isn't announced. */
  public void withdraw(FlowRule rule) {
    if (rules.remove(rule) != null) {
      UpdateMessage gone =
          UpdateMessage.of(FamilyRoutes.withdraw(codec(rule), List.of(rule)), PathAttributes.EMPTY);
      up.forEach(session -> session.send(gone));
    }
  }

  /** Announces all rules again, so that they don't expire at any gateway. */
  public void refresh() {
    for (FlowspecCodec each : codecs) {
      up.forEach(session -> sendAll(session, each));
    }
  }

  /**
   * Announces all rules of a family to a peer that requests a refresh; called by {@code
   * BgpSpeaker.onRefreshRequest}.
   */
  public void refreshRequested(PeerSession session, AddressFamily family) {
    for (FlowspecCodec each : codecs) {
      if (family.equals(each.family()) && up.contains(session)) {
        sendAll(session, each);
      }
    }
  }

  /**
   * Returns the number of rules that aren't sent to an established peer, because it doesn't support
   * their address family.
   */
  public int unsupportedRules(PeerSession session) {
    Negotiated negotiated = session.status().negotiated();
    if (negotiated == null) {
      return 0;
    }
    return (int)
        rules.keySet().stream()
            .filter(rule -> !negotiated.families().has(codec(rule).family()))
            .count();
  }

  public Map<FlowRule, Target> rules() {
    return Map.copyOf(rules);
  }

  private void sendAll(PeerSession session, FlowspecCodec codec) {
    Map<Target, List<FlowRule>> byTarget = new LinkedHashMap<>();
    rules.forEach((rule, target) -> {
      if (rule.isIpv4() == codec.ipv4()) {
        byTarget.computeIfAbsent(target, any -> new ArrayList<>()).add(rule);
      }
    });
    byTarget.forEach((target, group) -> send(session, codec, group, target));
  }

  private void send(PeerSession session, FlowspecCodec codec, List<FlowRule> group, Target target) {
    Negotiated negotiated = session.status().negotiated();
    if (negotiated != null) {
      boolean external = session.options().isExternal(negotiated.peerAs());
      session.send(
          UpdateMessage.of(
              FamilyRoutes.announce(codec, group, null),
              steering.write(
                  target.list(), target.gateway(), session.options().localAs(), external)));
    }
  }

  @Override
  public void established(PeerSession session, Negotiated negotiated) {
    up.add(session);
    codecs.forEach(each -> sendAll(session, each));
  }

  @Override
  public void update(PeerSession session, UpdateMessage update) {
    /* A controller accepts no rules. */
  }

  @Override
  public void endOfRib(PeerSession session, AddressFamily family) {
    /* A controller accepts no rules. */
  }

  @Override
  public void markRoutesStale(PeerSession session, AddressFamily family) {
    /* A controller accepts no rules. */
  }

  @Override
  public void dropStaleRoutes(PeerSession session, AddressFamily family) {
    /* A controller accepts no rules. */
  }

  @Override
  public void down(PeerSession session, SessionEnd end) {
    up.remove(session);
  }

  @Override
  public void attemptFailed(PeerSession session, SessionEnd end) {
    /* Nothing to do: the session itself tries again to connect. */
  }
}
