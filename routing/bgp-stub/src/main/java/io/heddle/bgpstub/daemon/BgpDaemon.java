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
 * Route daemon: a session with each configured peer, their routes, and the routes file.
 *
 * <p>All work runs on the speaker's thread; the public methods are for any other thread.
 */
public final class BgpDaemon implements AutoCloseable {
  private static final int HEARTBEAT_MS = 100;
  private static final long HEARTBEAT_NS = HEARTBEAT_MS * 1_000_000L;
  private static final long REFRESH_NS = 1_000_000_000;
  private static final long FIRST_REFRESH_NS = 200_000_000;
  private static final long START_UP_NS = 60_000_000_000L;
  private static final long PEERS_IN_USE_NS = 300_000_000;
  private static final long RETRY_NS = 5_000_000_000L;

  /* A dump of this size leaves enough garbage on the heap to be worth a collection. */
  private static final long LARGE_DUMP = 20_000;

  /* Peers with End-of-RIB send it within this time; the others never do. */
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
   * @param peersInUse addresses of the peers of this host's jobs; called a few times a second if a
   *     peer takes filters
   * @throws HeddleException if the routes file can't be created, or the port is in use
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
   * Sets the action for an error that the daemon's thread can't recover from; it runs on that
   * thread.
   */
  public void onPersistentFailure(EventLoop.FatalHandler end) {
    speaker.loop().onPersistentFailure(end);
  }

  /*
   * Listens on IPv4 only if there is an IPv4 peer: another BGP speaker of the host may use that
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
    PeerOptions options = options(peer, of);
    AdjRibIn routes =
        speaker.callOnLoop(() -> rib.addPeer(peer.name(), peer.planeKey(), peer.rateMbps()));
    PeerRoutes listener = new PeerRoutes(routes, of.as(), routerId, of.fibSuppress());
    PeerSession session = speaker.add(options, listener);
    speaker.execute(() -> peers.add(new DaemonPeer(peer, session, listener)));
    return session;
  }

  private PeerOptions options(PeerConfig peer, DaemonConfig of) {
    PeerOptions.Builder options =
        PeerOptions.builder(peer.name())
            .onInterface(peer.interfaceName())
            .port(peer.port())
            .localAs(of.as())
            .remoteAs(peer.as())
            .routerId(routerId)
            .holdTimeSeconds(peer.holdTimeSeconds())
            .passive(peer.passive())
            .gtsmHops(peer.gtsmHops())
            .md5Key(peer.md5Key())
            .acceptAigp(peer.aigp())
            .acceptAsSets(peer.asSets())
            .families(peer.families())
            .filters(peer.filter())
            .bfd(peer.bfd())
            .codePoints(of.codePoints());
    InetAddress address = peer.address();
    if (address != null) {
      options.remote(address);
    }
    try {
      return options.build();
    } catch (IllegalArgumentException unfit) {
      throw new HeddleException(String.valueOf(unfit.getMessage()), unfit);
    }
  }

  /**
   * Applies another configuration: unchanged peers keep their sessions and routes. For any thread.
   *
   * @return the changes of the peers, for the log
   * @throws HeddleException for values that can't change while the daemon runs; then nothing
   *     changes
   */
  public synchronized String reload(DaemonConfig next) {
    ConfigChange change = ConfigChange.between(speaker.callOnLoop(() -> config), next);
    change.added().forEach(peer -> options(peer, next));
    listenOnIpv4(next);
    speaker.callOnLoop(() -> {
      apply(change, next);
      return change;
    });
    return change.describe();
  }

  private void apply(ConfigChange change, DaemonConfig next) {
    change.removed().forEach(this::removePeer);
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
     * New sessions start after the end of the old ones: a new peer may have the address of an ended
     * one.
     */
    speaker.execute(() -> {
      change.added().forEach(peer -> add(peer, next).start());
      speaker.execute(this::readHost);
      publishOrphans();
    });
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
   * Removes this host's address from planes without a peer, so that new jobs don't use their names.
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

  /* Publishes the heartbeat, and runs due tasks. */
  private void heartbeat() {
    reschedule(HEARTBEAT_NS, this::heartbeat);
    rib.restoreIfCut();
    if (!publisher.isTruncated()) {
      publisher.heartbeat();
    }
    if (!publisher.isLive() && isReady()) {
      goLive();
    }
  }

  /* Reschedules first, so that a failure doesn't stop the repetition. */
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

  /* A predecessor's routes are better than an incomplete set from our peers. */
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
   * Garbage from reading a large dump would stay resident while nothing else happens here. A
   * collection takes some 20 ms, once, while no route changes.
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
   * Reads addresses, ports and routers of this host. Returns whether an early second reading is
   * worthwhile.
   */
  private boolean readHost() {
    boolean waiting = false;
    boolean isYoung = System.nanoTime() - startNs < START_UP_NS;
    try {
      OwnAddresses own = new OwnAddresses(HostAddresses.read());
      /* Several peers may define one plane, which still has one address. */
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

  /* Returns whether a missing item makes an early second reading worthwhile. */
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
   * A job's peers come one after another, so a change of the filter is sent only after it has been
   * stable for a moment.
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

  /** Returns routes as received, from one peer or from all. */
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
   * Returns the routes by which each plane reaches a destination; the first route of a plane
   * counts.
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

  /** Closes the sessions, and marks the routes file as closed for its readers. */
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
