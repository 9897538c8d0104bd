package io.heddle.bgpstub.daemon;

import io.heddle.addr.AddressText;
import io.heddle.addr.HostAddresses;
import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.net.EventLoop;
import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.session.SessionState;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgpstub.rib.AdjRibIn;
import io.heddle.bgpstub.rib.PeerRoutes;
import io.heddle.bgpstub.rib.Rib;
import io.heddle.bgpstub.rib.Route;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RoutePublisher;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Route daemon. It has a BGP session with each configured peer, and publishes the routes of all
 * peers in the routes file.
 *
 * <p>All work runs on the BGP speaker's thread. The public methods may be called by any other
 * thread.
 */
public final class BgpDaemon implements AutoCloseable {
  private static final int HEARTBEAT_MS = 100;
  private static final long HEARTBEAT_NS = HEARTBEAT_MS * 1_000_000L;
  private static final long REFRESH_NS = 1_000_000_000;
  private static final long FIRST_REFRESH_NS = 200_000_000;
  private static final long START_UP_NS = 60_000_000_000L;
  private static final long PEERS_IN_USE_NS = 300_000_000;
  private static final long RETRY_NS = 5_000_000_000L;

  /*
   * Number of route changes after which a garbage collection is worthwhile: a table dump of this
   * size leaves much garbage on the heap.
   */
  private static final long LARGE_DUMP = 20_000;

  /* Peers that support End-of-RIB send it within this time; other peers never send it. */
  private static final long DUMP_NS = 3_000_000_000L;

  private DaemonConfig config;
  private final Log log;
  private final BgpSpeaker speaker;
  private final RoutePublisher publisher;
  private final Rib rib;
  private final List<DaemonPeer> peers = new ArrayList<>();
  private final Supplier<Set<Prefix>> peersInUse;
  private final long startNs = System.nanoTime();
  private long lastRetryNs = startNs;
  private final int routerId;
  private final Map<String, List<InetAddress>> addressesOn = new HashMap<>();
  private boolean listensOnIpv4;
  private Set<Prefix> lastInUse = Set.of();
  private Set<Prefix> sentInUse = Set.of();
  private final Set<String> logged = new HashSet<>();
  private long changesSeen;
  private long changesCollected;

  private BgpDaemon(DaemonConfig config, Supplier<Set<Prefix>> peersInUse, Log log) {
    this.config = config;
    this.log = log;
    this.peersInUse = peersInUse;
    OwnAddresses addresses = new OwnAddresses(HostAddresses.read());
    routerId = config.routerId() == 0 ? addresses.routerId() : config.routerId();
    publisher =
        RoutePublisher.create(
            config.publish(),
            "heddle bgp, AS " + config.as(),
            config.weights(),
            HEARTBEAT_MS,
            NanoClock.SYSTEM);
    RibWarmUp.run(config.publish());
    speaker = new BgpSpeaker(log);
    rib = new Rib(publisher, config.routes(), speaker::execute, log);
  }

  /**
   * Starts the daemon.
   *
   * @param peersInUse supplies the addresses of the hosts that this host's jobs talk to; called a
   *     few times a second if a BGP peer takes filters
   * @throws HeddleException if the routes file can't be created, or if the listening port is in use
   */
  public static BgpDaemon start(DaemonConfig config, Supplier<Set<Prefix>> peersInUse, Log log) {
    BgpDaemon daemon = new BgpDaemon(config, peersInUse, log);
    try {
      if (config.listenPort() > 0) {
        daemon.speaker.listen(Endpoint.anyAddress(config.listenPort()));
      }
      daemon.listenOnIpv4(config);
      config.peers().forEach(peer -> daemon.add(peer, config));
      daemon.speaker.onRefreshRequest(daemon::refresh);
      daemon.speaker.execute(() -> {
        daemon.heartbeat();
        daemon.refreshHost();
        daemon.gatherPeersInUse();
        daemon.peers.forEach(peer -> peer.session().start());
      });
      return daemon;
    } catch (RuntimeException failure) {
      daemon.close();
      throw failure;
    }
  }

  /**
   * Sets the action for an error that the daemon's thread can't recover from. The action runs on
   * that thread.
   */
  public void onPersistentFailure(EventLoop.FatalHandler end) {
    speaker.loop().onPersistentFailure(end);
  }

  /*
   * Listens on IPv4 only if there is an IPv4 peer: another BGP speaker of the host may use the
   * port.
   */
  private void listenOnIpv4(DaemonConfig of) {
    boolean wanted =
        of.listenPort() > 0
            && of.peers().stream().anyMatch(each -> each.address() instanceof Inet4Address);
    if (wanted && !listensOnIpv4) {
      speaker.listen(Endpoint.anyIpv4Address(of.listenPort()));
      listensOnIpv4 = true;
    }
  }

  private PeerSession add(PeerConfig peer, DaemonConfig of) {
    PeerOptions options = peer.options(of, routerId);
    AdjRibIn routes =
        speaker.callOnLoop(() -> rib.addPeer(peer.name(), peer.planeKey(), peer.rateMbps()));
    PeerRoutes listener = new PeerRoutes(routes, of.as(), routerId, of.fibSuppress());
    PeerSession session = speaker.add(options, listener);
    speaker.execute(() -> peers.add(new DaemonPeer(peer, session, listener)));
    return session;
  }

  /**
   * Applies another configuration. Unchanged peers keep their sessions and routes. Any thread may
   * call this.
   *
   * @return the changes, for the log
   * @throws HeddleException if a value differs that can't change while the daemon runs; then
   *     nothing is applied
   */
  public synchronized String reload(DaemonConfig next) {
    DaemonConfig now = speaker.callOnLoop(() -> config);
    String changes = now.text().changeTo(next.text());
    SessionChange sessions = SessionChange.between(now, next);
    sessions.begun().forEach(peer -> peer.options(next, routerId));
    listenOnIpv4(next);
    return changes + "; " + speaker.callOnLoop(() -> apply(sessions, next));
  }

  private String apply(SessionChange sessions, DaemonConfig next) {
    sessions.ended().forEach(this::removePeer);
    rib.setRules(next.weights(), next.routes());
    peers.replaceAll(peer -> peer.of(next));
    if (next.fibSuppress() != config.fibSuppress()) {
      peers.forEach(peer -> peer.routes().setFibSuppress(next.fibSuppress()));
    }
    if (!next.announce()) {
      peers.forEach(peer -> peer.routes().setAddresses(Set.of(), 0));
    }
    config = next;
    logged.clear();
    /*
     * New sessions start after the removed ones have ended, since a new peer may have the address
     * of a removed peer.
     */
    speaker.execute(() -> {
      sessions.begun().forEach(peer -> add(peer, next).start());
      speaker.execute(this::readHost);
      publishOrphans();
    });
    return sessions.describe();
  }

  private void removePeer(String name) {
    for (DaemonPeer peer : List.copyOf(peers)) {
      if (peer.config().name().equals(name)) {
        peers.remove(peer);
        speaker.remove(peer.session(), "no longer configured");
        speaker.execute(() -> rib.removePeer(peer.routes().routes()));
      }
    }
  }

  /*
   * Removes this host's address from planes that no peer defines any more, so that new jobs don't
   * use the names of those planes.
   */
  private void publishOrphans() {
    Set<String> keys = new HashSet<>();
    boolean colours = false;
    for (PeerConfig peer : config.peers()) {
      String key = peer.planeKey();
      colours |= key == null;
      if (key != null) {
        keys.add(key);
      }
    }
    for (PublishedPlane plane : rib.planes()) {
      boolean defined = keys.contains(plane.key()) || colours && Rib.isColourKey(plane.key());
      if (!defined && plane.source() != null) {
        rib.setSource(plane.key(), null, 0, "no peer");
      }
    }
  }

  /*
   * Publishes a heartbeat, restores a truncated routes file, and publishes the file once it is
   * ready.
   */
  private void heartbeat() {
    reschedule(HEARTBEAT_NS, this::heartbeat);
    rib.restoreIfTruncated();
    if (!publisher.isTruncated()) {
      publisher.heartbeat();
    }
    if (!publisher.isLive() && isReady()) {
      goLive();
    }
  }

  /*
   * Schedules a repeated task's next run. A task calls this first, so that its failure doesn't stop
   * the repetition.
   */
  private void reschedule(long delayNs, Runnable task) {
    speaker.loop().schedule(delayNs, task);
  }

  private void goLive() {
    try {
      rib.flush();
      publisher.goLive();
      log.info(
          "weights are published at %s: %d prefixes, %d planes",
          config.publish(), publisher.entries(), publisher.planes().size());
    } catch (HeddleException failure) {
      logOnce(String.valueOf(failure.getMessage()));
    }
  }

  /*
   * Returns whether the routes may replace those of the previous daemon: the previous routes are
   * better than an incomplete set from our peers.
   */
  private boolean isReady() {
    long running = System.nanoTime() - startNs;
    boolean all = !peers.isEmpty();
    for (DaemonPeer peer : peers) {
      boolean up = peer.session().state() == SessionState.ESTABLISHED;
      long upForMs = up ? peer.session().status().upForMs() : 0;
      all &= up && (peer.routes().routes().isComplete() || upForMs * 1_000_000 > DUMP_NS);
    }
    return all || running > config.publishAfterMs() * 1_000_000;
  }

  private void refreshHost() {
    long nextNs = REFRESH_NS;
    try {
      collectGarbageAfterDump();
      nextNs = readHost() ? FIRST_REFRESH_NS : REFRESH_NS;
    } finally {
      reschedule(nextNs, this::refreshHost);
    }
  }

  /*
   * Collects the garbage left by reading a large table dump, which would otherwise stay resident
   * while the daemon is idle. One collection takes some 20 ms, at a time when no route changes.
   */
  private void collectGarbageAfterDump() {
    long changes = rib.changes();
    if (changes == changesSeen && changes - changesCollected > LARGE_DUMP) {
      System.gc();
      changesCollected = changes;
    }
    changesSeen = changes;
  }

  /*
   * Reads this host's addresses, ports and default routers. Returns whether to read again soon,
   * because something is still missing.
   */
  private boolean readHost() {
    boolean waiting = false;
    boolean isYoung = System.nanoTime() - startNs < START_UP_NS;
    try {
      OwnAddresses own = new OwnAddresses(HostAddresses.read());
      /*
       * Keys of the planes whose address is set. Several peers may define one plane: the first of
       * them determines its address.
       */
      Set<String> named = new HashSet<>();
      for (DaemonPeer peer : peers) {
        waiting |= readPeerAddresses(peer, own, named);
      }
      if (rib.isIncomplete() && System.nanoTime() - lastRetryNs >= RETRY_NS) {
        lastRetryNs = System.nanoTime();
        rib.retry();
      }
    } catch (HeddleException failure) {
      logOnce(String.valueOf(failure.getMessage()));
    }
    return waiting && isYoung;
  }

  /* Returns whether to read again soon, because an address, an interface or a router is missing. */
  private boolean readPeerAddresses(DaemonPeer peer, OwnAddresses own, Set<String> named) {
    PeerConfig of = peer.config();
    String link = interfaceOf(of, own);
    if (link == null) {
      return true;
    }
    if (of.address() == null && peer.session().remote() == null) {
      Inet6Address router = DefaultRouters.on(link);
      if (router == null) {
        return true;
      }
      peer.session().remoteFound(router);
    }
    long rate = of.rateMbps() > 0 ? of.rateMbps() : own.rateMbps(link);
    peer.routes().routes().setRateMbps(rate);
    List<InetAddress> addresses = own.on(link, of.families());
    addressesOn.put(of.name(), addresses);
    String via = peer.session().remote() != null ? of.name() + " on " + link : of.name();
    String key = of.planeKey();
    if (key == null) {
      nameByColour(addresses, rate, via, named);
    } else if (named.add(key)) {
      List<InetAddress> ofPlane = own.on(link, config.familiesOf(key));
      rib.setSource(key, ofPlane.isEmpty() ? null : ofPlane.getFirst(), rate, via);
    }
    if (config.announce()) {
      peer.routes().setAddresses(new LinkedHashSet<>(addresses), rate);
    }
    return addresses.isEmpty();
  }

  /* Returns the interface towards a peer; null, with a log line, if there is none. */
  private @Nullable String interfaceOf(PeerConfig of, OwnAddresses own) {
    String link = of.interfaceName();
    InetAddress address = of.address();
    if (link.isEmpty() && address != null) {
      String found = own.linkTowards(address);
      if (found == null) {
        logOnce(
            ("[peer %s]: none of our addresses is in a subnet with %s (yet); if the peer is"
                    + " farther away, interface = NAME names the port of its plane")
                .formatted(of.name(), AddressText.of(address)));
      }
      return found;
    }
    if (!own.hasLink(link)) {
      logOnce("[peer " + of.name() + "]: there is no interface " + link + " (yet)");
      return null;
    }
    return link;
  }

  private void nameByColour(List<InetAddress> addresses, long rate, String via, Set<String> named) {
    for (InetAddress address : addresses) {
      String key = rib.planeOf(address);
      if (key != null && named.add(key)) {
        rib.setSource(key, address, rate, via);
      }
    }
  }

  /*
   * Passes the hosts in use to the peers' filters. The hosts of a job appear one after another, so
   * a changed set is used only after two equal readings.
   */
  private void gatherPeersInUse() {
    reschedule(PEERS_IN_USE_NS, this::gatherPeersInUse);
    if (peers.stream().anyMatch(peer -> peer.config().filter())) {
      Set<Prefix> now = peersInUse.get();
      if (now.equals(lastInUse) && !now.equals(sentInUse)) {
        sentInUse = now;
      }
      lastInUse = now;
      for (DaemonPeer peer : peers) {
        if (peer.config().filter()) {
          PeerConfig of = peer.config();
          peer.routes()
              .setWanted(
                  of.wantedPrefixes(sentInUse, addressesOn.getOrDefault(of.name(), List.of())));
        }
      }
    }
  }

  private void refresh(PeerSession session, AddressFamily family) {
    for (DaemonPeer peer : peers) {
      if (peer.session() == session) {
        peer.routes().refresh();
      }
    }
  }

  private void logOnce(String sentence) {
    if (logged.add(sentence)) {
      log.warn("%s", sentence);
    }
  }

  /** Returns a snapshot of the daemon. */
  public DaemonView view() {
    return speaker.callOnLoop(() ->
        new DaemonView(
            config.as(),
            ExtendedCommunity.dotted(routerId),
            config.publish().toString(),
            publisher.isLive(),
            rib.isIncomplete(),
            publisher.entries(),
            publisher.generation(),
            speaker.unknownPeers(),
            publisher.planes(),
            peers.stream().map(DaemonPeer::view).toList()));
  }

  /**
   * Returns at most {@code most} routes as received, from one peer or, if {@code peerName} is null,
   * from all.
   */
  public List<Route> routes(@Nullable String peerName, int most) {
    return speaker.callOnLoop(() -> {
      List<Route> all = new ArrayList<>();
      for (DaemonPeer peer : peers) {
        if (peerName == null || peer.config().name().equals(peerName)) {
          all.addAll(peer.routes().routes().routes(most - all.size()));
        }
      }
      return all;
    });
  }

  /**
   * Returns the routes by which each plane reaches a destination. A plane uses its first route in
   * the list.
   */
  public List<Route> explain(Prefix destination) {
    return speaker.callOnLoop(() -> rib.explain(destination));
  }

  /** Returns, for each peer that we sent a filter, whether that filter permits a destination. */
  public List<FilterView> filters(Prefix destination) {
    return speaker.callOnLoop(() -> {
      List<FilterView> all = new ArrayList<>();
      for (DaemonPeer peer : peers) {
        PeerRoutes routes = peer.routes();
        if (routes.filterLines() > 0) {
          all.add(
              new FilterView(
                  peer.config().name(),
                  peer.config().planeKey(),
                  routes.filterLines(),
                  routes.permits(destination)));
        }
      }
      return all;
    });
  }

  /** Closes the sessions, and records in the routes file that the daemon has ended. */
  @Override
  public void close() {
    speaker.execute(rib::freeze);
    speaker.close();
    if (speaker.loop().hasEnded()) {
      rib.close();
    }
    publisher.close();
  }
}
