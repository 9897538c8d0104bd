package io.heddle.bgp.session;

import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.net.EventLoop;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.AttributeFault;
import io.heddle.bgp.wire.NextHop;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.RouteRefreshMessage;
import io.heddle.bgp.wire.UpdateMessage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Filter of a peer's routes in front of the listener: counts faults, withdraws routes that lead
 * back to this speaker, and drops stale routes when their time limit expires. For the loop's
 * thread.
 */
final class ReceivedRoutes {
  private static final long STALE_LIMIT_NS = 300_000_000_000L;

  /**
   * State of a family: whether routes received earlier are stale, and the timer that drops them.
   */
  private static final class Staleness {
    private final AddressFamily family;
    private boolean stale;
    private EventLoop.@Nullable Timer timer;

    Staleness(AddressFamily family) {
      this.family = family;
    }

    void forget() {
      stale = false;
      EventLoop.Timer armed = timer;
      if (armed != null) {
        armed.cancel();
        timer = null;
      }
    }
  }

  private final PeerSession session;
  private final EventLoop loop;
  private final SessionListener listener;
  private final List<Staleness> families;
  private @Nullable Negotiated lastNegotiated;
  /* Per treatment, a bit set of the attribute codes whose faults this session has logged. */
  private final Map<AttributeFault.Treatment, long[]> logged =
      new EnumMap<>(AttributeFault.Treatment.class);
  private long updates;
  private long announced;
  private long withdrawn;
  private long attributeFaults;
  private long ignored;
  private long looped;
  private long skippedFamilies;

  ReceivedRoutes(PeerSession session, EventLoop loop, SessionListener listener) {
    this.session = session;
    this.loop = loop;
    this.listener = listener;
    this.families = session.options().families().all().stream().map(Staleness::new).toList();
  }

  /**
   * Returns the counters of this class together with those of the session, which are the
   * parameters.
   */
  SessionCounters counters(long rejected, long timesEstablished, long failedAttempts) {
    return new SessionCounters(
        updates,
        announced,
        withdrawn,
        attributeFaults,
        ignored,
        looped,
        rejected,
        skippedFamilies,
        timesEstablished,
        failedAttempts);
  }

  void update(UpdateMessage update) {
    updates++;
    announced += update.announcedRoutes();
    withdrawn += update.withdrawnRoutes();
    skippedFamilies += update.skippedFamilies();
    ignored += update.ignored();
    update.faults().forEach(this::count);
    AddressFamily complete = update.endOfRib();
    if (complete != null) {
      listener.endOfRib(session, complete);
      dropStale(complete);
    } else {
      listener.update(session, withdrawLooped(update));
    }
  }

  private void count(AttributeFault fault) {
    attributeFaults++;
    long[] loggedCodes = logged.get(fault.treatment());
    if (loggedCodes == null) {
      loggedCodes = new long[4];
      logged.put(fault.treatment(), loggedCodes);
    }
    if ((loggedCodes[fault.code() >>> 6] & 1L << (fault.code() & 63)) != 0) {
      return;
    }
    loggedCodes[fault.code() >>> 6] |= 1L << (fault.code() & 63);
    loop.log()
        .warn(
            "peer %s: malformed attribute %d: %s (%s); more of this attribute in this session are"
                + " counted",
            session.name(),
            fault.code(),
            fault.why(),
            switch (fault.treatment()) {
              case IGNORE -> "that prefix is ignored";
              case DISCARD -> "the attribute is discarded";
              case WITHDRAW -> "treated as withdraw";
            });
  }

  /*
   * Turns announced routes into withdrawn ones if they lead back to this speaker: our AS is in the
   * path, we are the originator (RFC 4456 §8), or the next hop is our address.
   */
  private UpdateMessage withdrawLooped(UpdateMessage update) {
    int routes = update.announcedRoutes();
    if (routes == 0) {
      return update;
    }
    Endpoint own = session.ownEndpoint();
    NextHop nextHop = own == null ? null : update.nextHopAt(own.high(), own.low());
    if (nextHop != null) {
      AttributeFault fault =
          new AttributeFault(
              AttributeFault.Treatment.WITHDRAW,
              PathAttribute.MP_REACH_NLRI,
              "next hop " + nextHop + " is our own address");
      count(fault);
      List<AttributeFault> faults = new ArrayList<>(update.faults());
      faults.add(fault);
      return update.allWithdrawn(faults);
    }
    if (update.attributes().asPath().contains(session.options().localAs())
        || isOwnReflected(update)) {
      looped += routes;
      return update.allWithdrawn(update.faults());
    }
    return update;
  }

  private boolean isOwnReflected(UpdateMessage update) {
    Negotiated last = lastNegotiated;
    if (last == null || session.options().isExternal(last.peerAs())) {
      return false;
    }
    for (PathAttribute each : update.attributes().all()) {
      if (each instanceof PathAttribute.Unknown one
          && one.code() == PathAttribute.ORIGINATOR_ID
          && ByteBuffer.wrap(one.value()).getInt() == session.options().routerId()) {
        return true;
      }
    }
    return false;
  }

  /** Starts or ends a refresh of a family (RFC 7313 §4). */
  void refresh(AddressFamily family, int subtype) {
    switch (subtype) {
      case RouteRefreshMessage.BEGIN -> {
        for (Staleness each : families) {
          each.stale |= each.family.equals(family);
        }
        listener.markRoutesStale(session, family);
      }
      case RouteRefreshMessage.END -> dropStale(family);
      default -> {
        /* RFC 7313 §5: unknown sub-types are ignored. */
      }
    }
  }

  /**
   * Handles a new session: keeps the stale routes if a restarted peer kept its forwarding state.
   */
  void established(Negotiated outcome) {
    logged.clear();
    lastNegotiated = outcome;
    var restart = outcome.gracefulRestart();
    for (Staleness each : families) {
      boolean kept = restart != null && restart.keptForwarding(each.family);
      if (each.stale && kept && outcome.families().has(each.family)) {
        keepStale(each, STALE_LIMIT_NS);
      } else {
        dropStale(each);
      }
    }
  }

  /**
   * Handles the end of a session: keeps a family's routes as stale for the time that the peer
   * requested, or drops them.
   */
  void down(SessionEnd end) {
    Negotiated last = lastNegotiated;
    var restart = last == null ? null : last.gracefulRestart();
    for (Staleness each : families) {
      if (restart != null && end.keepsRoutesOf(each.family)) {
        keepStale(each, restart.timeSeconds() * 1_000_000_000L);
      } else {
        each.forget();
      }
    }
  }

  private void dropStale(AddressFamily family) {
    for (Staleness each : families) {
      if (each.family.equals(family)) {
        dropStale(each);
      }
    }
  }

  private void dropStale(Staleness one) {
    if (one.stale) {
      one.forget();
      listener.dropStaleRoutes(session, one.family);
    }
  }

  void forgetStale() {
    families.forEach(Staleness::forget);
  }

  private void keepStale(Staleness one, long limitNs) {
    one.forget();
    one.stale = true;
    one.timer = loop.schedule(limitNs, () -> dropStale(one));
  }
}
