package io.heddle.bgp.session;

import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.net.EventLoop;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.AttributeFault;
import io.heddle.bgp.wire.NextHop;
import io.heddle.bgp.wire.Nlri;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.RouteRefreshMessage;
import io.heddle.bgp.wire.UpdateMessage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
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
  /* By treatment, a bit for each attribute of which the log of this session has a line. */
  private final Map<AttributeFault.Treatment, long[]> toldOf =
      new EnumMap<>(AttributeFault.Treatment.class);
  private boolean stale;
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
  }

  /** With what the session itself has counted. */
  SessionCounters counters(long turnedAway, long timesEstablished, long failedAttempts) {
    return new SessionCounters(
        updates,
        announced,
        withdrawn,
        attributeFaults,
        ignored,
        looped,
        turnedAway,
        skippedFamilies,
        timesEstablished,
        failedAttempts);
  }

  void update(UpdateMessage update) {
    updates++;
    announced += update.announced().size();
    withdrawn += update.withdrawn().size();
    skippedFamilies += update.skippedFamilies();
    ignored += update.ignored();
    update.faults().forEach(this::count);
    if (update.isEndOfRib()) {
      listener.endOfRib(session);
      dropStale();
    } else {
      listener.update(session, withoutOwn(update));
    }
  }

  private void count(AttributeFault fault) {
    attributeFaults++;
    long[] told = toldOf.get(fault.treatment());
    if (told == null) {
      told = new long[4];
      toldOf.put(fault.treatment(), told);
    }
    if ((told[fault.code() >>> 6] & 1L << (fault.code() & 63)) != 0) {
      return;
    }
    told[fault.code() >>> 6] |= 1L << (fault.code() & 63);
    loop.log()
        .warn(
            "peer %s: malformed attribute %d: %s (%s); more of this attribute in this session are"
                + " counted",
            session.name(),
            fault.code(),
            fault.why(),
            switch (fault.treatment()) {
              case IGNORE -> "that prefix is passed over";
              case DISCARD -> "it is left out";
              case WITHDRAW -> "its routes count as withdrawn";
            });
  }

  /* Routes that lead back here: by their path, by who reflected them (RFC 4456 §8), or by their next hop. */
  private UpdateMessage withoutOwn(UpdateMessage update) {
    if (update.announced().isEmpty()) {
      return update;
    }
    NextHop nextHop = update.nextHop();
    Endpoint own = session.ownEndpoint();
    if (nextHop != null && own != null && nextHop.is(own.high(), own.low())) {
      AttributeFault fault =
          new AttributeFault(
              AttributeFault.Treatment.WITHDRAW,
              PathAttribute.MP_REACH_NLRI,
              "next hop " + nextHop + " is our own address");
      count(fault);
      List<AttributeFault> faults = new ArrayList<>(update.faults());
      faults.add(fault);
      return allWithdrawn(update, faults);
    }
    if (update.attributes().asPath().contains(session.options().localAs())
        || isReflectionOfOurs(update)) {
      looped += update.announced().size();
      return allWithdrawn(update, update.faults());
    }
    return update;
  }

  private boolean isReflectionOfOurs(UpdateMessage update) {
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

  private static UpdateMessage allWithdrawn(UpdateMessage update, List<AttributeFault> faults) {
    return new UpdateMessage(
        update.withdrawn().and(update.announced()),
        Nlri.EMPTY,
        PathAttributes.EMPTY,
        null,
        faults,
        update.ignored(),
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
    toldOf.clear();
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
