package io.heddle.gateway;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.AddressText;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.gateway.config.ControllerRules;
import io.heddle.gateway.config.GatewayConfig;
import io.heddle.gateway.config.ListConfig;
import io.heddle.gateway.config.PolicyConfig;
import io.heddle.gateway.config.TelemetryConfig;
import io.heddle.gateway.dataplane.Buckets;
import io.heddle.gateway.dataplane.DataPlane;
import io.heddle.gateway.dataplane.FlowRecord;
import io.heddle.gateway.dataplane.SteerKey;
import io.heddle.gateway.flow.FlowWatch;
import io.heddle.gateway.flow.MeasuredFlow;
import io.heddle.gateway.observe.InterfaceCounters;
import io.heddle.gateway.peer.ControllerSessions;
import io.heddle.gateway.peer.SteeredTo;
import io.heddle.gateway.probe.ProbeResult;
import io.heddle.gateway.probe.Probes;
import io.heddle.gateway.route.KernelRoutes;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.ResilientThread;
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
 * Running gateway. Its thread polls links, flows and counters five times per second. Commands and
 * queries may come from any thread; they wait while a poll runs.
 *
 * <p>{@link #close} ends only the threads: the data plane keeps forwarding packets to their lists.
 */
public final class Gateway implements AutoCloseable {
  private static final long POLL_MS = 200;
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
  /* Whether interfaces have changed since the routes and the data plane were last updated. */
  private boolean linksChanged;
  /* Whether the data plane's steers and buckets match the set of lists that are alive. */
  private boolean settled = true;
  private HostAddresses host;
  private GatewayView view;
  /* Immutable copy of the set of lists that are alive, for the thread of the BGP speaker. */
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
   * Starts a gateway in the calling thread's network namespace.
   *
   * @throws HeddleException if the host lacks something, with the remedy
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
      plane = DataPlane.open(lanIndexes(config, host), config.priority());
      gateway = new Gateway(config, plane, events, host, log);
      gateway.startServices();
      return gateway;
    } catch (RuntimeException failed) {
      if (plane != null) {
        removeUnlessAdopted(plane, failed);
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

  /*
   * Removes a new data plane after a failed start, since no process would control it. An adopted
   * one keeps forwarding.
   */
  private static void removeUnlessAdopted(DataPlane plane, RuntimeException failed) {
    if (!plane.isAdopted()) {
      try {
        plane.remove();
        KernelRoutes.removeAll();
      } catch (RuntimeException left) {
        failed.addSuppressed(left);
      }
    }
  }

  /**
   * Removes a gateway's routes, rules and data plane from the calling thread's namespace.
   *
   * @throws HeddleException if the host can't detach BPF programs; routes and rules are removed
   */
  public static void remove(GatewayConfig config) {
    List<Integer> lan = lanIndexes(config, HostAddresses.read());
    KernelRoutes.removeAll();
    DataPlane.removeFrom(lan, config.priority());
  }

  private static List<Integer> lanIndexes(GatewayConfig config, HostAddresses host) {
    return config.lan().stream()
        .flatMap(name -> HostFindings.link(host, name).stream())
        .map(NetworkLink::index)
        .toList();
  }

  /* Starts probes, controller sessions and telemetry. */
  private void startServices() {
    /* Probes need the lists' routes, which begin() has installed. */
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
      public void graceEnded() {
        releaseUnclaimedSteers();
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

  /*
   * Removes the steers found at the start that no controller has announced again. The data plane
   * doesn't store which controller wanted a steer.
   */
  private synchronized void releaseUnclaimedSteers() {
    int ended = closed ? 0 : steers.releaseUnclaimed(alive);
    if (ended > 0) {
      log.info(
          "%d steers found at the start are removed: no controller has announced them again",
          ended);
    }
  }

  /** Returns the last sample for telemetry. */
  public GatewayReport report() {
    GatewayView seen;
    List<InterfaceReport> counted;
    synchronized (this) {
      seen = view();
      counted = sent;
    }
    return Reports.of(seen, config, counted);
  }

  /** Returns the sessions with controllers. */
  public GatewayStatus.Peers peers() {
    ControllerSessions sessions = controllers;
    return Reports.peers(sessions == null ? List.of() : sessions.peers());
  }

  private Map<Integer, ProbeResult> probeResults() {
    return probes == null ? Map.of() : probes.results();
  }

  /*
   * Installs routes and rules first, and attaches the data plane last, so that no packet is marked
   * for a missing route.
   */
  private void begin() {
    HostFindings.enableFlowLabels();
    reasons = health.update(host, Map.of(), true);
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
    steers.apply(alive);
    usable = Set.copyOf(alive);
    plane.attach();
  }

  /**
   * Starts the thread.
   *
   * @param whenLost runs if this thread, or a thread that the gateway depends on, fails
   *     persistently
   */
  public void watch(Runnable whenLost) {
    if (probes != null) {
      probes.onPersistentFailure(whenLost);
    }
    if (controllers != null) {
      controllers.onPersistentFailure(whenLost);
    }
    new ResilientThread("heddle-gateway", log, this::round).onPersistentFailure(whenLost).start();
  }

  private boolean round() throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(POLL_MS);
    synchronized (this) {
      if (!closed) {
        poll();
      }
      return !closed;
    }
  }

  /** Polls links, flows and counters once. */
  synchronized void poll() {
    pollLinks();
    flows = watch.sample(plane.flows(), System.nanoTime());
    sent = InterfaceCounters.read(host);
    if (controllers != null) {
      controllers.flowsSampled(seenFlows());
    }
    view = newView(rates.sample(plane.listCounters(), System.nanoTime()));
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
    return Buckets.ofWeights(weights, alive);
  }

  /*
   * Updates the data plane to the lists that are alive. After a failure the next poll retries,
   * since the state counts as settled only at the end.
   */
  private void applyLiveness() {
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
    steers.apply(alive);
    if (controllers != null) {
      controllers.listsChanged();
    }
    settled = true;
  }

  private void pollLinks() {
    linksChanged |= events.poll(host);
    host = HostAddresses.read();
    reasons = health.update(host, probeResults(), linksChanged);
    if (linksChanged) {
      List<Integer> interfaces = lanIndexes(config, host);
      plane.setInterfaces(interfaces);
      plane.attach();
      if (!interfaces.equals(lan)) {
        log.warn(
            "the LAN's interfaces have changed: of %s, %d exist; the data plane is attached to"
                + " them",
            String.join(", ", config.lan()), interfaces.size());
        lan = interfaces;
      }
      linksChanged = false;
    }
    applyLiveness();
  }

  /** Returns the last sample, with the current steers. */
  public synchronized GatewayView view() {
    return view.withRules(Map.copyOf(steers.all()));
  }

  /**
   * Steers a queue pair's packets to a list, on an operator's order.
   *
   * @return a sentence that describes the completed action
   * @throws HeddleException if no list has the name, if the list's policy doesn't include the
   *     destination, or if the data plane has no room
   */
  public synchronized String steer(SteerKey key, String listName) {
    requireOpen();
    ListConfig list = config.listTowards(listName, key.destination());
    if (!steers.order(key, new WantedSteers.Wanted(list.id(), OPERATOR), alive)) {
      throw new HeddleException(
          "the data plane has no room for another steer; release one of those in heddle gateway"
              + " show rules has");
    }
    return "queue pair %s of %s is steered to %s%s"
        .formatted(
            key.queuePair(),
            AddressText.of(key.destination()),
            listName,
            alive.contains(list.id())
                ? ""
                : " once that list is alive; until then its hash chooses");
  }

  private void requireOpen() {
    if (closed) {
      throw new HeddleException("the gateway is ending; retry with the next one");
    }
  }

  /**
   * Ends an operator's order. A controller's rule, or else the queue pair's hash, chooses the list
   * again.
   *
   * @throws HeddleException if there is no order for this queue pair
   */
  public synchronized String release(SteerKey key) {
    requireOpen();
    if (!steers.endOrder(key, alive)) {
      throw new HeddleException(
          "there is no order for queue pair "
              + key.queuePair()
              + " of "
              + AddressText.of(key.destination())
              + "; heddle gateway show rules lists the orders; a controller's rules end at the"
              + " controller");
    }
    return "queue pair %s of %s is released to its hash%s"
        .formatted(
            key.queuePair(),
            AddressText.of(key.destination()),
            steers.all().containsKey(key) ? " or to a controller's rule" : "");
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      /*
       * Set before the sessions end: their rules then count as withdrawn, but the data plane must
       * keep the steers.
       */
      closed = true;
    }
    /*
     * Telemetry and sessions are closed without the monitor, since their threads may wait for it.
     */
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
