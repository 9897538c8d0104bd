package io.heddle.gateway.peer;

import io.heddle.bgp.flowspec.rule.FlowKey;
import io.heddle.bgp.flowspec.session.RuleReceiver;
import io.heddle.bgp.flowspec.session.RuleReceivers;
import io.heddle.bgp.flowspec.steering.RuleRefusal;
import io.heddle.bgp.flowspec.steering.SteeringAttributes;
import io.heddle.bgp.flowspec.table.RuleAdmission;
import io.heddle.bgp.flowspec.table.RuleLimits;
import io.heddle.bgp.flowspec.table.RuleTable;
import io.heddle.bgp.flowspec.wire.FlowspecCodec;
import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.session.PeerSession;
import io.heddle.gateway.config.ControllerPeer;
import io.heddle.gateway.config.ControllerRules;
import io.heddle.gateway.dataplane.FlowRecord;
import io.heddle.gateway.dataplane.SteerKey;
import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import java.util.function.ToLongFunction;

/** Set of the BGP sessions with controllers, and translation of their rules to steers. */
public final class ControllerSessions implements AutoCloseable {
  /**
   * Gateway that receives the steers and supplies its flows. Called on the BGP speaker's thread.
   */
  public interface Steering {
    /**
     * Applies changes of steers.
     *
     * @param changed new steers, and steers with another list
     * @param gone keys that no rule steers any more
     */
    void rules(Map<SteerKey, SteeredTo> changed, Set<SteerKey> gone);

    /** Returns the flows of the last sample. */
    Collection<FlowRecord> flows();

    /**
     * Handles the end of the grace period, in which controllers announce their rules after this
     * gateway's start.
     */
    void graceEnded();
  }

  /**
   * State of a session.
   *
   * @param name name of the peer in the configuration
   * @param state state of the BGP session, as in RFC 4271
   * @param rules number of valid rules from the peer
   * @param accepted number of accepted announcements
   * @param delayed number of announcements that had to wait
   * @param refused numbers of refused announcements by reason
   */
  public record Peer(
      String name,
      String address,
      String state,
      int rules,
      long accepted,
      long delayed,
      Map<String, Long> refused) {}

  private record Known(ControllerPeer config, PeerSession session, List<RuleAdmission> admissions) {
    long sum(ToLongFunction<RuleAdmission> count) {
      return admissions.stream().mapToLong(count).sum();
    }
  }

  private final ControllerRules config;
  private final Steering steering;
  private final BgpSpeaker speaker;
  private final RuleSteers steers;
  private final RuleTable table;
  private final List<Known> peers = new ArrayList<>();
  private final Set<FlowKey> seen = new HashSet<>();
  private boolean awake;

  private ControllerSessions(
      ControllerRules config, IntPredicate usable, Steering steering, Log log) {
    this.config = config;
    this.steering = steering;
    speaker = new BgpSpeaker(log);
    steers = new RuleSteers(usable, this::wake);
    table = new RuleTable(usable, steers, NanoClock.SYSTEM, log);
  }

  /**
   * Starts the sessions in the calling thread's network namespace.
   *
   * @param usable whether the segment list with an id exists and is alive; called by any thread
   */
  public static ControllerSessions start(
      ControllerRules config, IntPredicate usable, Steering steering, Log log) {
    ControllerSessions sessions = new ControllerSessions(config, usable, steering, log);
    try {
      if (config.port() > 0) {
        sessions.speaker.listen(Endpoint.anyAddress(config.port()));
      }
      config.peers().forEach(each -> sessions.add(each, log));
    } catch (RuntimeException failed) {
      sessions.speaker.close();
      throw failed;
    }
    sessions.speaker.execute(() -> {
      sessions.speaker.loop().schedule(config.grace().withRestartNs(), steering::graceEnded);
      sessions.dropOld();
    });
    return sessions;
  }

  /**
   * Sets the action that runs when the BGP speaker's thread keeps failing. It runs on that thread.
   */
  public void onPersistentFailure(Runnable whenLost) {
    speaker.loop().onPersistentFailure(thrown -> whenLost.run());
  }

  private void add(ControllerPeer peer, Log log) {
    List<FlowspecCodec> codecs = FlowspecCodec.both(config.types());
    List<RuleAdmission> admissions = new ArrayList<>();
    List<RuleReceiver> receivers = new ArrayList<>();
    for (FlowspecCodec codec : codecs) {
      RuleAdmission admission = admission(peer, name(peer, codec.ipv4()));
      admissions.add(admission);
      receivers.add(
          new RuleReceiver(
              name(peer, codec.ipv4()),
              codec,
              admission,
              table,
              config.grace(),
              (delayNs, task) -> speaker.loop().schedule(delayNs, task),
              log));
    }
    PeerSession session = speaker.add(peer.options(), new RuleReceivers(receivers));
    speaker.execute(() -> {
      peers.add(new Known(peer, session, admissions));
      session.start();
    });
  }

  /*
   * Returns the peer's name in the rule table. Rules for IPv4 have a separate name, since their
   * End-of-RIB is separate.
   */
  private static String name(ControllerPeer peer, boolean ipv4) {
    return ipv4 ? peer.name() + " (IPv4)" : peer.name();
  }

  private RuleAdmission admission(ControllerPeer peer, String name) {
    return new RuleAdmission(
        name,
        new RuleLimits(peer.destinations(), peer.mostRules(), RuleLimits.CHANGES_PER_SECOND),
        new SteeringAttributes(config.encoding()),
        config.routerId(),
        table,
        NanoClock.SYSTEM);
  }

  private void dropOld() {
    table.dropOlderThan(config.maxAgeNs());
    speaker.loop().schedule(config.maxAgeNs() / 10, this::dropOld);
  }

  /* Schedules one evaluation of the rules for all changes by the messages received together. */
  private void wake() {
    if (!awake) {
      awake = true;
      speaker.execute(this::settle);
    }
  }

  private void settle() {
    awake = false;
    RuleSteers.Change change = steers.next(table, steering.flows());
    if (!change.isEmpty()) {
      steering.rules(change.changed(), change.gone());
    }
  }

  /** Notifies the sessions that a list has died or is alive again. Thread-safe. */
  public void listsChanged() {
    speaker.execute(steers::any);
  }

  /** Passes the flows of a new sample to the sessions. Thread-safe. */
  public void flowsSampled(Collection<FlowRecord> flows) {
    speaker.execute(() -> {
      if (steers.concerns(table, flows, seen)) {
        wake();
      }
    });
  }

  /** Returns the state of the sessions. Thread-safe. */
  public List<Peer> peers() {
    return speaker.callOnLoop(() ->
        peers.stream()
            .map(each -> {
              Map<String, Long> refused = new TreeMap<>();
              for (RuleRefusal why : RuleRefusal.values()) {
                long count = each.sum(admission -> admission.refused(why));
                if (count > 0) {
                  refused.put(why.text(), count);
                }
              }
              return new Peer(
                  each.config().name(),
                  Objects.requireNonNull(each.config().options().remote()).getHostAddress(),
                  String.valueOf(each.session().state()),
                  table.size(name(each.config(), false)) + table.size(name(each.config(), true)),
                  each.sum(RuleAdmission::accepted),
                  each.sum(RuleAdmission::delayed),
                  refused);
            })
            .toList());
  }

  @Override
  public void close() {
    speaker.close();
  }
}
