package io.heddle.bgp.flowspec.session;

import io.heddle.bgp.session.Negotiated;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.session.SessionEnd;
import io.heddle.bgp.session.SessionListener;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.UpdateMessage;
import java.util.List;
import java.util.function.Consumer;

/**
 * Listener that passes one session's events to a rule receiver for each address family, since
 * End-of-RIB, grace and limits are per family. Runs on the BGP speaker's thread.
 */
public final class RuleReceivers implements SessionListener {
  private final List<RuleReceiver> receivers;

  public RuleReceivers(List<RuleReceiver> receivers) {
    this.receivers = List.copyOf(receivers);
  }

  private void forEach(Consumer<RuleReceiver> what) {
    receivers.forEach(what);
  }

  @Override
  public void established(PeerSession session, Negotiated negotiated) {
    forEach(one -> one.established(session, negotiated));
  }

  @Override
  public void update(PeerSession session, UpdateMessage update) {
    forEach(one -> one.update(session, update));
  }

  @Override
  public void endOfRib(PeerSession session, AddressFamily family) {
    forEach(one -> one.endOfRib(session, family));
  }

  @Override
  public void markRoutesStale(PeerSession session, AddressFamily family) {
    forEach(one -> one.markRoutesStale(session, family));
  }

  @Override
  public void dropStaleRoutes(PeerSession session, AddressFamily family) {
    forEach(one -> one.dropStaleRoutes(session, family));
  }

  @Override
  public void down(PeerSession session, SessionEnd end) {
    forEach(one -> one.down(session, end));
  }

  @Override
  public void attemptFailed(PeerSession session, SessionEnd end) {
    forEach(one -> one.attemptFailed(session, end));
  }
}
