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
 * The route daemon: a session with each configured peer, their routes, and the routes file.
 *
 * <p>All work is the speaker's thread's; the methods here may be called by any other.
 */
public final class BgpDaemon implements AutoCloseable {
  private static final int HEARTBEAT_MS = 100;
  private static final long HEARTBEAT_NS = HEARTBEAT_MS * 1_000_000L;
  private static final long LOOK_NS = 1_000_000_000;
  private static final long FIRST_LOOK_NS = 200_000_000;
  private static final long YOUNG_NS = 60_000_000_000L;
  private static final long PEERS_IN_USE_NS = 300_000_000;
  private static final long RETRY_NS = 5_000_000_000L;

  /* A dump of so many routes leaves enough on the heap to be worth a collection. */
  private static final long LARGE_DUMP = 20_000;

  /* A peer that says when its dump is over does so within this; others never do. */
  private static final long DUMP_NS = 3_000_000_000L;

  private DaemonConfig config;
  private final Log log;
  private final BgpSpeaker speaker;
  private final RoutePublisher publisher;
  private final Rib rib;
  private final List<DaemonPeer> peers = new ArrayList<>();
  private final Supplier<Set<Prefix>> peersInUse;
  private final long startNs = System.nanoTime();
  private long triedNs = startNs;
  private final int routerId;
  private final Map<String, List<InetAddress>> addressesOn = new HashMap<>();
  private boolean listensOnIpv4;
  private Set<Prefix> lastInUse = Set.of();
  private Set<Prefix> sentInUse = Set.of();
  private final Set<String> told = new HashSet<>();
  private long changesSeen;
  private long changesTidied;

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
    Rehearsal.run(config.publish());
    speaker = new BgpSpeaker(log);
    rib = new Rib(publisher, config.routes(), speaker::execute, log);
  }

  /**
   * Starts it.
   *
   * @param peersInUse the addresses that this host's jobs talk to; asked a few times a second where
   *     a peer filters
   * @throws HeddleException when the routes file can't be made, or the port is taken
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
        daemon.beat();
        daemon.look();
        daemon.gatherPeersInUse();
        daemon.peers.forEach(peer -> peer.session().start());
      });
      return daemon;
    } catch (RuntimeException failure) {
      daemon.close();
      throw failure;
    }
  }

  /** What to do where the daemon's thread has met an error that it can't undo, on that thread. */
  public void onPersistentFailure(EventLoop.Undoing end) {
    speaker.loop().onPersistentFailure(end);
  }

  /* Only where a peer is there: a host's other BGP speaker may have that port. */
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
    AdjRibIn routes = speaker.ask(() -> rib.addPeer(peer.name(), peer.planeKey(), peer.rateMbps()));
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
   * Goes on by another configuration: peers that are as before keep their sessions and routes. Any
   * thread.
   *
   * @return what became of the peers, for the log
   * @throws HeddleException for what can't change while the daemon runs; then everything stays
   */
  public synchronized String reload(DaemonConfig next) {
    ConfigChange change = ConfigChange.between(speaker.ask(() -> config), next);
    change.begun().forEach(peer -> options(peer, next));
    listenOnIpv4(next);
    speaker.ask(() -> {
      apply(change, next);
      return change;
    });
    return change.describe();
  }

  private void apply(ConfigChange change, DaemonConfig next) {
    change.ended().forEach(this::end);
    rib.setRules(next.weights(), next.routes());
    peers.replaceAll(peer -> peer.of(next));
    if (next.fibSuppress() != config.fibSuppress()) {
      peers.forEach(peer -> peer.routes().setFibSuppress(next.fibSuppress()));
    }
    if (!next.announce()) {
      peers.forEach(peer -> peer.routes().setAddresses(Set.of(), 0));
    }
    config = next;
    told.clear();
    /* After the sessions that end: a new one may be with the same address. */
    speaker.execute(() -> {
      change.begun().forEach(peer -> add(peer, next).start());
      speaker.execute(this::lookOnce);
      publishOrphans();
    });
  }

  private void end(String name) {
    for (DaemonPeer peer : List.copyOf(peers)) {
      if (peer.config().name().equals(name)) {
        peers.remove(peer);
        speaker.remove(peer.session(), "not configured any more");
        speaker.execute(() -> rib.removePeer(peer.routes().routes()));
      }
    }
  }

  /* A plane that no peer tells of has no address of ours, so that new jobs don't call one by it. */
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
      boolean told = keys.contains(plane.key()) || colours && Rib.isColourKey(plane.key());
      if (!told && plane.source() != null) {
        rib.setSource(plane.key(), null, 0, "no peer");
      }
    }
  }

  /* Signs of life, and what is due. */
  private void beat() {
    again(HEARTBEAT_NS, this::beat);
    rib.keepWhole();
    if (!publisher.isCut()) {
      publisher.heartbeat();
    }
    if (!publisher.isLive() && isReady()) {
      goLive();
    }
  }

  /* First of all: what fails once is tried again, or the daemon would be dumb from then on. */
  private void again(long delayNs, Runnable task) {
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
      tellOnce(String.valueOf(failure.getMessage()));
    }
  }

  /* What a predecessor has published is better than a part of what our peers are about to say. */
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

  private void look() {
    long nextNs = LOOK_NS;
    try {
      tidy();
      nextNs = lookOnce() ? FIRST_LOOK_NS : LOOK_NS;
    } finally {
      again(nextNs, this::look);
    }
  }

  /*
   * What reading a large dump has left on the heap would stay resident for as long as nothing else happens here. Some
   * 20 ms once, while no route changes.
   */
  private void tidy() {
    long changes = rib.changes();
    if (changes == changesSeen && changes - changesTidied > LARGE_DUMP) {
      System.gc();
      changesTidied = changes;
    }
    changesSeen = changes;
  }

  /* Addresses, ports and routers of this host. Returns whether an early second look is worth it. */
  private boolean lookOnce() {
    boolean waiting = false;
    boolean isYoung = System.nanoTime() - startNs < YOUNG_NS;
    try {
      OwnAddresses own = new OwnAddresses(HostAddresses.read());
      /* Several peers may tell of one plane, which has one address all the same. */
      Set<String> named = new HashSet<>();
      for (DaemonPeer peer : peers) {
        waiting |= lookFor(peer, own, named);
      }
      if (rib.isIncomplete() && System.nanoTime() - triedNs >= RETRY_NS) {
        triedNs = System.nanoTime();
        rib.retry();
      }
    } catch (HeddleException failure) {
      tellOnce(String.valueOf(failure.getMessage()));
    }
    return waiting && isYoung;
  }

  /* Returns whether something is missing that is worth an early second look. */
  private boolean lookFor(DaemonPeer peer, OwnAddresses own, Set<String> named) {
    PeerConfig of = peer.config();
    String link = linkOf(of, own);
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

  /* The interface towards a peer; null, and told, where there is none. */
  private @Nullable String linkOf(PeerConfig of, OwnAddresses own) {
    String link = of.interfaceName();
    InetAddress address = of.address();
    if (link.isEmpty() && address != null) {
      String found = own.linkTowards(address);
      if (found == null) {
        tellOnce(
            ("[peer %s]: none of our addresses is in a subnet with %s (yet); where the peer is"
                    + " farther away, interface = NAME says whose addresses are its plane's")
                .formatted(of.name(), AddressText.of(address)));
      }
      return found;
    }
    if (!own.hasLink(link)) {
      tellOnce("[peer " + of.name() + "]: there is no interface " + link + " (yet)");
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

  /* A job's peers come one after the other: what has changed is sent once it stands still for a moment. */
  private void gatherPeersInUse() {
    again(PEERS_IN_USE_NS, this::gatherPeersInUse);
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
              .setWanted(of.wanted(sentInUse, addressesOn.getOrDefault(of.name(), List.of())));
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

  private void tellOnce(String sentence) {
    if (told.add(sentence)) {
      log.warn("%s", sentence);
    }
  }

  /** Everything at a glance. */
  public DaemonView view() {
    return speaker.ask(() ->
        new DaemonView(
            config.as(),
            ExtendedCommunity.dotted(routerId),
            config.publish().toString(),
            publisher.isLive(),
            rib.isIncomplete(),
            publisher.entries(),
            publisher.generation(),
            speaker.strangers(),
            publisher.planes(),
            peers.stream().map(DaemonPeer::view).toList()));
  }

  /** Routes as peers tell them, of one peer or of all. */
  public List<Route> routes(@Nullable String peerName, int most) {
    return speaker.ask(() -> {
      List<Route> all = new ArrayList<>();
      for (DaemonPeer peer : peers) {
        if (peerName == null || peer.config().name().equals(peerName)) {
          all.addAll(peer.routes().routes().routes(most - all.size()));
        }
      }
      return all;
    });
  }

  /** By which routes each plane reaches a destination; of a plane the first counts. */
  public List<Route> explain(Prefix destination) {
    return speaker.ask(() -> rib.explain(destination));
  }

  /** What the peers that filter for us let through of a destination. */
  public List<FilterView> filters(Prefix destination) {
    return speaker.ask(() -> {
      List<FilterView> all = new ArrayList<>();
      for (DaemonPeer peer : peers) {
        PeerRoutes routes = peer.routes();
        if (routes.filterLines() > 0) {
          all.add(
              new FilterView(
                  peer.config().name(),
                  peer.config().planeKey(),
                  routes.filterLines(),
                  routes.letsThrough(destination)));
        }
      }
      return all;
    });
  }

  /** Says goodbye to the peers and to the readers of the routes file. */
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
