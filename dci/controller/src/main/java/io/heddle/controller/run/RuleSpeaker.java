package io.heddle.controller.run;

import io.heddle.bgp.flowspec.session.RuleAnnouncer;
import io.heddle.bgp.flowspec.steering.SteeringAttributes;
import io.heddle.bgp.flowspec.wire.FlowspecCodec;
import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.session.SessionState;
import io.heddle.controller.network.NetworkConfig;
import io.heddle.platform.Log;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** BGP speaker that announces rules to gateways. Thread-safe. */
final class RuleSpeaker implements AutoCloseable {
  private final NetworkConfig network;
  private final BgpSpeaker speaker;
  private final RuleAnnouncer announcer;
  private final List<FlowspecCodec> codecs;
  private final List<PeerSession> sessions = new ArrayList<>();

  /*
   * Sessions start later, in begin(), once there are rules to announce: a gateway removes rules
   * that a new session doesn't announce.
   */
  RuleSpeaker(NetworkConfig network, Log log) {
    this.network = network;
    speaker = new BgpSpeaker(log);
    codecs = FlowspecCodec.both(network.types());
    announcer = new RuleAnnouncer(codecs, new SteeringAttributes(network.encoding()));
    try {
      speaker.onRefreshRequest(announcer::refreshRequested);
      if (network.port() > 0) {
        speaker.listen(Endpoint.anyAddress(network.port()));
      }
    } catch (RuntimeException failed) {
      speaker.close();
      throw failed;
    }
  }

  /**
   * Sets the action that runs when the BGP speaker's thread keeps failing. It runs on that thread.
   */
  void onPersistentFailure(Runnable whenLost) {
    speaker.loop().onPersistentFailure(thrown -> whenLost.run());
  }

  /** Starts the sessions, which begin with the rules announced so far. */
  void begin() {
    for (PeerOptions peer : network.peers()) {
      PeerSession session = speaker.add(peer, announcer);
      speaker.execute(() -> {
        sessions.add(session);
        session.start();
      });
    }
    speaker.execute(this::refresh);
  }

  private void refresh() {
    announcer.refresh();
    speaker.loop().schedule(network.refreshNs(), this::refresh);
  }

  void announce(RuleBook.Reason reason) {
    speaker.execute(() ->
        announcer.announce(
            reason.rule(), new RuleAnnouncer.Target(reason.list(), reason.gatewayId())));
  }

  void withdraw(RuleBook.Reason reason) {
    speaker.execute(() -> announcer.withdraw(reason.rule()));
  }

  /** Returns whether at least one peer can receive rules now; true if no peer is configured. */
  boolean hasReceiver() {
    return network.peers().isEmpty()
        || speaker.callOnLoop(
            () -> sessions.stream().anyMatch(each -> each.state() == SessionState.ESTABLISHED));
  }

  List<ControllerStatus.PeerRow> peers() {
    return speaker.callOnLoop(() ->
        sessions.stream()
            .map(each ->
                new ControllerStatus.PeerRow(
                    each.name(),
                    Objects.requireNonNull(each.options().remote()).getHostAddress(),
                    String.valueOf(each.state()),
                    announcer.unsupportedRules(each)))
            .toList());
  }

  @Override
  public void close() {
    speaker.close();
  }
}
