package io.heddle.gateway;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.AddressText;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.dataplane.Buckets;
import io.heddle.dataplane.DataPlane;
import io.heddle.dataplane.FlowRecord;
import io.heddle.dataplane.SteerKey;
import io.heddle.dataplane.route.KernelRoutes;
import io.heddle.gateway.config.ControllerRules;
import io.heddle.gateway.config.GatewayConfig;
import io.heddle.gateway.config.ListConfig;
import io.heddle.gateway.config.PolicyConfig;
import io.heddle.gateway.config.TelemetryConfig;
import io.heddle.gateway.flow.FlowWatch;
import io.heddle.gateway.flow.MeasuredFlow;
import io.heddle.gateway.observe.InterfaceCounters;
import io.heddle.gateway.peer.ControllerSessions;
import io.heddle.gateway.peer.SteeredTo;
import io.heddle.gateway.probe.ProbeResult;
import io.heddle.gateway.probe.Probes;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LastingThread;
import io.heddle.platform.Log;
import io.heddle.platform.NearestName;
import io.heddle.telemetry.report.GatewayReport;
import io.heddle.telemetry.report.InterfaceReport;
import io.heddle.telemetry.report.RuleReport;
import io.heddle.telemetry.server.TelemetryServer;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A gateway at work. Its thread looks at links, flows and counters five times a second. Orders and
 * questions come from any thread and wait for it.
 *
 * <p>{@link #close} ends the thread only: packets go on by the lists that they have.
 */
public final class Gateway implements AutoCloseable {
  private static final long LOOK_MS = 200;
  private static final String OPERATOR = "operator";

  private final GatewayConfig config;
  private final Log log;
  private final DataPlane plane;
  private final Headend headend;
  private final ListReasons health;
  private final LinkEvents events;
  private final FlowWatch watch;
  private final WantedSteers steers;
  private final ListRates rates;
  private final Set<Integer> alive = new TreeSet<>();
  private List<MeasuredFlow> flows = List.of();
  private Map<Integer, String> reasons = Map.of();
  private List<Integer> lan;
  /* Something has happened to interfaces that routes and program don't follow yet. */
  private boolean stirred;
  /* Whether all follows the lists that are alive. */
  private boolean settled = true;
  private HostAddresses host;
  private GatewayView view;
  /* The same as the set of those that are alive; read by the speaker's thread. */
  private volatile Set<Integer> usable = Set.of();
  private List<InterfaceReport> sent = List.of();
  private @Nullable Probes probes;
  private @Nullable ControllerSessions controllers;
  private @Nullable TelemetryServer telemetry;
  private boolean closed;

  private Gateway(
      GatewayConfig config, DataPlane plane, LinkEvents events, HostAddresses host, Log log) {
    this.config = config;
    this.plane = plane;
    this.host = host;
    this.log = log;
    lan = lanIndexes(config, host);
    headend = new Headend(config);
    health = new ListReasons(config, headend);
    this.events = events;
    watch = new FlowWatch(config.elephants());
    Set<Integer> known = new TreeSet<>();
    config.lists().forEach(each -> known.add(each.id()));
    steers = new WantedSteers(plane, known, log);
    begin();
    rates = new ListRates(plane.listCounters(), System.nanoTime());
    view = newView(Map.of());
  }

  /**
   * Puts a gateway to work in the calling thread's network namespace.
   *
   * @throws HeddleException where the host lacks something, with the remedy
   */
  public static Gateway start(GatewayConfig config, Log log) {
    List<String> faults = HostFindings.faults(config);
    if (!faults.isEmpty()) {
      throw new HeddleException(String.join("; ", faults));
    }
    LinkEvents events = new LinkEvents(config);
    DataPlane plane = null;
    Gateway gateway = null;
    try {
      HostAddresses host = HostAddresses.read();
      plane = DataPlanes.open(config, lanIndexes(config, host), log);
      gateway = new Gateway(config, plane, events, host, log);
      gateway.join();
      return gateway;
    } catch (RuntimeException failed) {
      if (plane != null) {
        takeBack(plane, failed);
      }
      if (gateway != null) {
        gateway.close();
      } else if (plane != null) {
        plane.close();
      }
      events.close();
      throw failed;
    }
  }

  /* What was found at work goes on. What has only just begun would go on with nobody to watch it. */
  private static void takeBack(DataPlane plane, RuntimeException failed) {
    if (!plane.isAdopted()) {
      try {
        plane.remove();
        KernelRoutes.removeAll();
      } catch (RuntimeException left) {
        failed.addSuppressed(left);
      }
    }
  }

  /** Takes a gateway's data plane, routes and rules off the calling thread's namespace. */
  public static void remove(GatewayConfig config) {
    List<Integer> lan = lanIndexes(config, HostAddresses.read());
    DataPlanes.remove(config, lan);
    KernelRoutes.removeAll();
  }

  private static List<Integer> lanIndexes(GatewayConfig config, HostAddresses host) {
    return config.lan().stream()
        .flatMap(name -> HostFindings.link(host, name).stream())
        .map(NetworkLink::index)
        .toList();
  }

  /* Whoever tells it what to do, and whom it tells what it sees. */
  private void join() {
    /* The lists' routes are there by now, and the address that answers come to has to be. */
    probes = ListProbes.start(config, log);
    sent = InterfaceCounters.read(host);
    ControllerRules from = config.controllers();
    if (!from.peers().isEmpty()) {
      controllers = ControllerSessions.start(from, list -> usable.contains(list), steering(), log);
    }
    TelemetryConfig serve = config.telemetry();
    if (serve != null) {
      telemetry =
          TelemetryServer.start(
              new InetSocketAddress(serve.address(), serve.port()),
              serve.files(),
              this::report,
              log);
    }
  }

  private ControllerSessions.Steering steering() {
    return new ControllerSessions.Steering() {
      @Override
      public void rules(Map<SteerKey, SteeredTo> changed, Set<SteerKey> gone) {
        takeRules(changed, gone);
      }

      @Override
      public Collection<FlowRecord> flows() {
        return seenFlows();
      }

      @Override
      public void graceIsOver() {
        endFoundBefore();
      }
    };
  }

  private synchronized void takeRules(Map<SteerKey, SteeredTo> changed, Set<SteerKey> gone) {
    if (!closed) {
      Map<SteerKey, WantedSteers.Wanted> wanted = new LinkedHashMap<>();
      changed.forEach((key, to) ->
          wanted.put(
              key,
              new WantedSteers.Wanted(
                  to.list(), RuleReport.BY_CONTROLLER + ExtendedCommunity.dotted(to.routerId()))));
      steers.rules(wanted, gone, alive);
    }
  }

  private synchronized List<FlowRecord> seenFlows() {
    return flows.stream().map(MeasuredFlow::flow).toList();
  }

  /* The data plane doesn't know whose its steers are. Controllers announce theirs again. */
  private synchronized void endFoundBefore() {
    int ended = closed ? 0 : steers.endFoundBefore(alive);
    if (ended > 0) {
      log.info("%d steers found at the start are ended: nobody wants them any more", ended);
    }
  }

  /** What was seen at the last look, as telemetry has it. */
  public GatewayReport report() {
    GatewayView seen;
    List<InterfaceReport> counted;
    synchronized (this) {
      seen = view();
      counted = sent;
    }
    return Reports.of(seen, config, counted);
  }

  /** Sessions with controllers. */
  public GatewayStatus.Peers peers() {
    ControllerSessions sessions = controllers;
    return Reports.peers(sessions == null ? List.of() : sessions.peers());
  }

  private Map<Integer, ProbeResult> probeResults() {
    return probes == null ? Map.of() : probes.results();
  }

  /* Routes first, then who may use them, and the program last: no packet is marked for what isn't there. */
  private void begin() {
    HostFindings.setLabelsBySeg6(plane.labelsBySeg6());
    reasons = health.look(host, Map.of(), true);
    plane.configure(config.settings());
    for (ListConfig list : config.lists().toList()) {
      String reason = reasons.get(list.id());
      plane.setAlive(list.id(), reason == null);
      if (reason == null) {
        alive.add(list.id());
      } else {
        log.warn("list %s is dead: %s", list.name(), reason);
      }
    }
    Map<AddressPrefix, Integer> prefixes = new HashMap<>();
    for (PolicyConfig policy : config.policies()) {
      plane.setBuckets(policy.number(), buckets(policy));
      policy.destinations().forEach(each -> prefixes.put(each, policy.number()));
    }
    plane.setPolicies(prefixes);
    steers.obey(alive);
    usable = Set.copyOf(alive);
    plane.attach();
    DataPlanes.removeOther(config, lan);
  }

  /**
   * Starts the thread.
   *
   * @param whenLost what is done when it, or one that it depends on, can't go on
   */
  public void watch(Runnable whenLost) {
    if (probes != null) {
      probes.orElse(whenLost);
    }
    if (controllers != null) {
      controllers.orElse(whenLost);
    }
    new LastingThread("heddle-gateway", log, this::round).orElse(whenLost).start();
  }

  private boolean round() throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(LOOK_MS);
    synchronized (this) {
      if (!closed) {
        look();
      }
      return !closed;
    }
  }

  /** One look at links, flows and counters. */
  synchronized void look() {
    lookAtLinks();
    flows = watch.look(plane.flows(), System.nanoTime());
    sent = InterfaceCounters.read(host);
    if (controllers != null) {
      controllers.looked(seenFlows());
    }
    view = newView(rates.look(plane.listCounters(), System.nanoTime()));
  }

  private GatewayView newView(Map<Integer, Long> bitsPerSecond) {
    Map<Integer, Buckets> buckets = new TreeMap<>();
    config.policies().forEach(each -> buckets.put(each.number(), buckets(each)));
    Map<Integer, Integer> mtus = new TreeMap<>();
    config.lists().forEach(each -> mtus.put(each.id(), headend.mtuBytes(each, host)));
    return new GatewayView(
        config,
        plane.isAdopted(),
        flows,
        buckets,
        mtus,
        reasons,
        rates.counts(),
        bitsPerSecond,
        plane.counters(),
        probeResults(),
        Map.copyOf(steers.all()),
        Instant.now());
  }

  private Buckets buckets(PolicyConfig policy) {
    Map<Integer, Integer> weights = new TreeMap<>();
    policy.lists().forEach(each -> weights.put(each.id(), each.weight()));
    return Buckets.by(weights, alive);
  }

  /* What isn't done for a fault is done at the next look: nothing counts as settled before. */
  private void follow() {
    Set<Integer> now = new TreeSet<>();
    config.lists().map(ListConfig::id).filter(id -> !reasons.containsKey(id)).forEach(now::add);
    if (settled && now.equals(alive)) {
      return;
    }
    settled = false;
    for (ListConfig list : config.lists().toList()) {
      boolean lives = now.contains(list.id());
      if (lives != alive.contains(list.id())) {
        plane.setAlive(list.id(), lives);
        if (lives) {
          alive.add(list.id());
          log.info("list %s is alive again", list.name());
        } else {
          alive.remove(list.id());
          log.warn("list %s is dead: %s", list.name(), String.valueOf(reasons.get(list.id())));
        }
      }
    }
    usable = Set.copyOf(alive);
    for (PolicyConfig policy : config.policies()) {
      Buckets wanted = buckets(policy);
      if (!wanted.equals(plane.buckets(policy.number()))) {
        plane.setBuckets(policy.number(), wanted);
      }
    }
    steers.obey(alive);
    if (controllers != null) {
      controllers.listsChanged();
    }
    settled = true;
  }

  private void lookAtLinks() {
    stirred |= events.poll(host);
    host = HostAddresses.read();
    reasons = health.look(host, probeResults(), stirred);
    if (stirred) {
      List<Integer> interfaces = lanIndexes(config, host);
      plane.belong(interfaces);
      plane.attach();
      if (!interfaces.equals(lan)) {
        log.warn(
            "of the LAN's interfaces %s there are %d, of which some are new; the data plane is on"
                + " them",
            String.join(", ", config.lan()), interfaces.size());
        lan = interfaces;
      }
      stirred = false;
    }
    follow();
  }

  /** What was seen at the last look, with today's rules. */
  public synchronized GatewayView view() {
    return view.withRules(Map.copyOf(steers.all()));
  }

  /**
   * Sends a queue pair's packets by a list.
   *
   * @throws HeddleException where no list has the name, or the destination has no policy with it
   */
  public synchronized String steer(SteerKey key, String listName) {
    requireOpen();
    ListConfig list =
        config
            .list(listName)
            .orElseThrow(() ->
                new HeddleException(
                    "no list is called "
                        + listName
                        + NearestName.question(
                            listName, config.lists().map(ListConfig::name).toList())));
    PolicyConfig policy =
        config.policies().stream()
            .filter(each -> each.name().equals(list.policy()))
            .findFirst()
            .orElseThrow();
    if (policy.destinations().stream().noneMatch(each -> each.includes(key.destination()))) {
      throw new HeddleException(
          "list "
              + listName
              + " is policy "
              + policy.name()
              + "'s, which doesn't lead to "
              + AddressText.of(key.destination()));
    }
    if (!steers.order(key, new WantedSteers.Wanted(list.id(), OPERATOR), alive)) {
      throw new HeddleException(
          "the data plane has no room for another steer; release one that heddle gateway show rules"
              + " has");
    }
    return "queue pair %s of %s goes by %s%s"
        .formatted(
            key.queuePair(),
            AddressText.of(key.destination()),
            listName,
            alive.contains(list.id()) ? "" : " as soon as that is alive; until then by its hash");
  }

  private void requireOpen() {
    if (closed) {
      throw new HeddleException("the gateway is ending; ask the next one");
    }
  }

  /**
   * Gives a queue pair back to its hash.
   *
   * @throws HeddleException where no order is for it
   */
  public synchronized String release(SteerKey key) {
    requireOpen();
    if (!steers.endOrder(key, alive)) {
      throw new HeddleException(
          "no order is for queue pair "
              + key.queuePair()
              + " of "
              + AddressText.of(key.destination())
              + "; heddle gateway show rules lists them, and those of controllers end there");
    }
    return "queue pair %s of %s goes by its hash%s"
        .formatted(
            key.queuePair(),
            AddressText.of(key.destination()),
            steers.all().containsKey(key) ? ", or by a controller's rule" : "");
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      /* First: whoever is told that a session ends takes its rules for gone. */
      closed = true;
    }
    /* Their threads may wait for this object. */
    if (telemetry != null) {
      telemetry.close();
    }
    if (controllers != null) {
      controllers.close();
    }
    synchronized (this) {
      if (probes != null) {
        probes.close();
      }
      plane.close();
      events.close();
    }
  }
}
