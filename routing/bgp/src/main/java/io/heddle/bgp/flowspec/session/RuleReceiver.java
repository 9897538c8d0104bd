package io.heddle.bgp.flowspec.session;

import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.steering.RuleRefusal;
import io.heddle.bgp.flowspec.table.RuleAdmission;
import io.heddle.bgp.flowspec.table.RuleTable;
import io.heddle.bgp.flowspec.wire.FlowspecCodec;
import io.heddle.bgp.session.Negotiated;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.session.SessionEnd;
import io.heddle.bgp.session.SessionListener;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.FamilyRoutes;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.platform.Log;
import java.nio.ByteBuffer;
import java.util.EnumSet;

/**
 * Receiver of one peer's rules of one address family for a gateway's table. A rule never outlives
 * its session by more than {@link RuleGrace} allows. Runs on the BGP speaker's thread.
 */
public final class RuleReceiver implements SessionListener {
  /** Timer whose tasks run on the BGP speaker's thread. */
  @FunctionalInterface
  public interface Timer {
    void run(long delayNs, Runnable task);
  }

  private final String peer;
  private final FlowspecCodec codec;
  private final RuleAdmission admission;
  private final RuleTable table;
  private final RuleGrace grace;
  private final Timer timer;
  private final Log log;
  private final EnumSet<RuleRefusal> loggedRefusals = EnumSet.noneOf(RuleRefusal.class);
  private int losses;
  private boolean waking;

  /**
   * @param peer name under which the table has the peer's rules
   */
  public RuleReceiver(
      String peer,
      FlowspecCodec codec,
      RuleAdmission admission,
      RuleTable table,
      RuleGrace grace,
      Timer later,
      Log log) {
    this.peer = peer;
    this.codec = codec;
    this.admission = admission;
    this.table = table;
    this.grace = grace;
    this.timer = later;
    this.log = log;
  }

  @Override
  public void established(PeerSession session, Negotiated negotiated) {
    loggedRefusals.clear();
  }

  @Override
  public void update(PeerSession session, UpdateMessage update) {
    FamilyRoutes<FlowRule> rules = update.of(codec);
    if (rules == null) {
      return;
    }
    rules.withdrawn().forEach(admission::withdrawn);
    int routerId = routerId(session, update.attributes());
    for (FlowRule rule : rules.announced()) {
      RuleRefusal refusal = admission.announced(rule, update.attributes(), routerId);
      /*
       * Doesn't log rules for other gateways, since a route reflector sends the rules of all
       * gateways to each.
       */
      if (refusal != null
          && refusal != RuleRefusal.FOR_ANOTHER_GATEWAY
          && loggedRefusals.add(refusal)) {
        log.warn(
            "peer %s: rule refused, %s: %s; more such rules in this session are counted",
            peer, refusal.text(), rule);
      }
    }
    acceptWaitingRules();
  }

  /*
   * Returns the router id of the speaker that originated the rules. If a route reflector passed
   * them on, that is the ORIGINATOR_ID (RFC 4456 §8).
   */
  private static int routerId(PeerSession session, PathAttributes attributes) {
    for (PathAttribute each : attributes.all()) {
      if (each instanceof PathAttribute.Unknown one && one.code() == PathAttribute.ORIGINATOR_ID) {
        return ByteBuffer.wrap(one.value()).getInt();
      }
    }
    Negotiated negotiated = session.status().negotiated();
    return negotiated == null ? 0 : negotiated.peer().identifier();
  }

  private void acceptWaitingRules() {
    long delayNs = admission.acceptWaiting();
    if (delayNs >= 0 && !waking) {
      waking = true;
      timer.run(
          delayNs,
          () -> {
            waking = false;
            acceptWaitingRules();
          });
    }
  }

  @Override
  public void endOfRib(PeerSession session, AddressFamily family) {
    dropStale(family, "the peer's End-of-RIB came without them");
  }

  @Override
  public void markRoutesStale(PeerSession session, AddressFamily family) {
    if (family.equals(codec.family())) {
      table.markStale(peer);
    }
  }

  @Override
  public void dropStaleRoutes(PeerSession session, AddressFamily family) {
    dropStale(family, "the peer didn't announce them again in time");
  }

  private void dropStale(AddressFamily family, String why) {
    if (family.equals(codec.family())) {
      logDropped(table.dropStale(peer), why);
    }
  }

  private void logDropped(int dropped, String why) {
    if (dropped > 0) {
      log.info(
          "peer %s: %d rules removed: %s; their queue pairs follow their hash again",
          peer, dropped, why);
    }
  }

  @Override
  public void down(PeerSession session, SessionEnd end) {
    lost(end.keepsRoutesOf(codec.family()), end.why());
  }

  /**
   * Handles the loss of the session.
   *
   * @param kept whether the peer requested that its rules be kept
   * @param why reason for the loss, for the log
   */
  void lost(boolean kept, String why) {
    admission.dropWaiting();
    long graceNs = kept ? grace.withRestartNs() : grace.withoutRestartNs();
    int loss = ++losses;
    if (graceNs <= 0) {
      logDropped(table.dropAll(peer), why);
      return;
    }
    table.markStale(peer);
    timer.run(
        graceNs,
        () -> {
          if (loss == losses) {
            logDropped(table.dropStale(peer), why);
          }
        });
  }

  @Override
  public void attemptFailed(PeerSession session, SessionEnd end) {
    /* Nothing to do: a session that didn't come up has no rules. */
  }
}
