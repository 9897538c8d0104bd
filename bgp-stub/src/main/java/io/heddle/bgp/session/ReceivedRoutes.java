package io.heddle.bgp.session;

import io.heddle.bgp.net.EventLoop;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.AttributeFault;
import io.heddle.bgp.wire.Nlri;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.RouteRefreshMessage;
import io.heddle.bgp.wire.UpdateMessage;
import org.jspecify.annotations.Nullable;

/**
 * What a peer says of routes, on its way to the listener: faults are counted, routes that came
 * through ourselves are withdrawn, and what is stale is dropped in time. Loop thread only.
 */
final class ReceivedRoutes {
  private static final long STALE_LIMIT_NS = 300_000_000_000L;

  private final PeerSession session;
  private final EventLoop loop;
  private final SessionListener listener;
  private EventLoop.@Nullable Timer staleTimer;
  private @Nullable Negotiated lastNegotiated;
  private boolean stale;
  private long updates;
  private long announced;
  private long withdrawn;
  private long attributeFaults;
  private long looped;
  private long skippedFamilies;

  ReceivedRoutes(PeerSession session, EventLoop loop, SessionListener listener) {
    this.session = session;
    this.loop = loop;
    this.listener = listener;
  }

  /** With what the session itself has counted. */
  SessionCounters counters(long timesEstablished, long failedAttempts) {
    return new SessionCounters(
        updates,
        announced,
        withdrawn,
        attributeFaults,
        looped,
        skippedFamilies,
        timesEstablished,
        failedAttempts);
  }

  void update(UpdateMessage update) {
    updates++;
    announced += update.announced().size();
    withdrawn += update.withdrawn().size();
    skippedFamilies += update.skippedFamilies();
    update.faults().forEach(this::count);
    if (update.isEndOfRib()) {
      listener.endOfRib(session);
      dropStale();
    } else {
      listener.update(session, withoutOwn(update));
    }
  }

  private void count(AttributeFault fault) {
    if (attributeFaults++ == 0) {
      loop.log()
          .warn(
              "peer %s: malformed attribute %d: %s (%s); later ones are counted",
              session.name(),
              fault.code(),
              fault.why(),
              fault.treatment() == AttributeFault.Treatment.WITHDRAW
                  ? "its routes count as withdrawn"
                  : "it is left out");
    }
  }

  private UpdateMessage withoutOwn(UpdateMessage update) {
    if (update.announced().isEmpty()
        || !update.attributes().asPath().contains(session.options().localAs())) {
      return update;
    }
    looped += update.announced().size();
    return new UpdateMessage(
        update.withdrawn().and(update.announced()),
        Nlri.EMPTY,
        PathAttributes.EMPTY,
        null,
        update.faults(),
        update.skippedFamilies());
  }

  /** The peer begins or ends to send everything again (RFC 7313 §4). */
  void refresh(int subtype) {
    switch (subtype) {
      case RouteRefreshMessage.BEGIN -> {
        stale = true;
        listener.routesBecomeStale(session);
      }
      case RouteRefreshMessage.END -> dropStale();
      default -> {
        /* RFC 7313 §5: unknown sub-types are ignored. */
      }
    }
  }

  /** The session is up: a peer that restarted has kept what we hold of it, or has not. */
  void established(Negotiated outcome) {
    lastNegotiated = outcome;
    var restart = outcome.gracefulRestart();
    if (stale && (restart == null || !restart.keptForwarding(AddressFamily.IPV6_UNICAST))) {
      dropStale();
    } else if (stale) {
      keepStale(STALE_LIMIT_NS);
    }
  }

  /** The session is down: its routes are kept for as long as the peer asked for, or not at all. */
  void down(SessionEnd end) {
    Negotiated last = lastNegotiated;
    if (end.routesKept() && last != null && last.gracefulRestart() != null) {
      keepStale(last.gracefulRestart().timeSeconds() * 1_000_000_000L);
    } else {
      forgetStale();
    }
  }

  private void dropStale() {
    if (stale) {
      forgetStale();
      listener.dropStaleRoutes(session);
    }
  }

  void forgetStale() {
    stale = false;
    EventLoop.Timer timer = staleTimer;
    if (timer != null) {
      timer.cancel();
      staleTimer = null;
    }
  }

  private void keepStale(long limitNs) {
    forgetStale();
    stale = true;
    staleTimer = loop.schedule(limitNs, this::dropStale);
  }
}
