package io.heddle.tools.wan.figure;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.steering.IndirectionEncoding;
import io.heddle.bgp.flowspec.steering.SteeringAttributes;
import io.heddle.bgp.flowspec.wire.FlowspecCodec;
import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.session.Negotiated;
import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.session.SessionEnd;
import io.heddle.bgp.session.SessionListener;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.FamilyRoutes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.cli.controller.ControllerCommand;
import io.heddle.cli.kit.Cleanup;
import io.heddle.controller.run.ControllerStatus;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkTopology;
import io.heddle.telemetry.server.TelemetryServer;
import io.heddle.telemetry.tls.TlsFiles;
import io.heddle.tools.wan.host.Certificates;
import io.heddle.tools.wan.host.JsonOutput;
import io.heddle.tools.wan.host.NodeProcesses;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Simulated gateways in a network namespace, with a controller in its own process. The controller
 * reads them by gNMI with mutual TLS. It announces rules for all of them over one BGP session, as
 * if to a route reflector.
 */
final class Fleet {
  static final int INTERVAL_MS = 200;
  private static final String CONTROLLER = "controller";
  private static final String SERVERS = "servers";
  private static final int FIRST_PORT = 20_000;
  private static final int BGP_PORT = 10_179;
  private static final int AS = 65_000;
  private static final int FIRST_ID = 0x0a010000;
  private static final int READY_SECONDS = 120;
  private static final int POLL_MS = 50;

  /*
   * Java options of the controller. Most objects that it makes from reports are short-lived. With
   * the default young generation some were promoted, and collecting those took pauses as long as a
   * controller's cycle.
   */
  static final List<String> JAVA =
      List.of("-Xmx160m", "-Xmn108m", "-XX:MaxDirectMemorySize=64m", "-XX:+UseSerialGC");

  /**
   * A received rule.
   *
   * @param queuePair queue pair of the rule
   * @param atNs time at which the UPDATE with the rule was read, by System.nanoTime
   */
  record ReceivedRule(int queuePair, long atNs) {}

  private record ElephantFlow(SimulatedGateway gateway, int routerId, int queuePair) {}

  private final Path folder;
  private final int lists;
  private final IntFunction<BooleanSupplier> limits;
  private final NetworkNamespace namespace;
  private final NodeProcesses processes;
  private final List<SimulatedGateway> gateways = new ArrayList<>();
  private final Map<FlowRule, ElephantFlow> rules = new ConcurrentHashMap<>();
  private final Map<Integer, Long> announcedNs = new ConcurrentHashMap<>();
  private final FlowspecCodec codec = new FlowspecCodec(ComponentTypes.DEFAULT);
  private final SteeringAttributes steering = new SteeringAttributes(IndirectionEncoding.DEFAULT);

  /**
   * Creates the gateways and all else but the controller's process.
   *
   * @param capacityMbps capacity in Mbit/s of each segment list's link
   * @param cleanup removes the fleet when it is closed
   */
  Fleet(
      Path folder,
      int count,
      int lists,
      int capacityMbps,
      IntFunction<BooleanSupplier> limits,
      Cleanup cleanup)
      throws IOException {
    this.folder = folder;
    this.lists = lists;
    this.limits = limits;
    namespace = cleanup.add(NetworkTopology.of("fleet").create()).node("fleet");
    processes = cleanup.add(new NodeProcesses(folder, node -> namespace));
    Certificates certificates = new Certificates(folder);
    certificates.sign(SERVERS, "::1");
    certificates.sign(CONTROLLER, "::1");
    TlsFiles files = tls(SERVERS);
    for (int i = 0; i < count; i++) {
      SimulatedGateway gateway = new SimulatedGateway(i + 1, lists, "controller 10.0.0.9");
      gateways.add(gateway);
      InetSocketAddress at = new InetSocketAddress("::1", FIRST_PORT + i);
      cleanup.add(
          namespace.call(() -> TelemetryServer.start(at, files, gateway, (level, sentence) -> {})));
    }
    BgpSpeaker speaker = cleanup.add(namespace.call(() -> new BgpSpeaker((level, sentence) -> {})));
    listen(speaker);
    Files.writeString(folder.resolve(CONTROLLER + ".conf"), config(capacityMbps));
  }

  private TlsFiles tls(String name) {
    return new TlsFiles(
        folder.resolve(name + ".pem"), folder.resolve(name + ".key"), folder.resolve("ca.pem"));
  }

  private void listen(BgpSpeaker speaker) {
    speaker.listen(Endpoint.anyAddress(BGP_PORT));
    PeerSession session =
        speaker.add(
            PeerOptions.builder(CONTROLLER)
                .remote((Inet6Address) Prefix.of("::1").address())
                .localAs(AS)
                .remoteAs(AS)
                .routerId(FIRST_ID)
                .families(Families.of(List.of(codec)))
                .passive(true)
                .build(),
            new Listener());
    speaker.execute(session::start);
  }

  private String config(int capacityMbps) {
    StringBuilder text =
        new StringBuilder(
            """
            router-id = 10.0.0.9
            as = %s
            control = %s
            interval-ms = %s
            hold-down-s = 1
            release-s = 1
            certificate = %s
            key = %s
            authorities = %s
            """
                .formatted(
                    AS,
                    socket(),
                    INTERVAL_MS,
                    tls(CONTROLLER).certificate(),
                    tls(CONTROLLER).key(),
                    tls(CONTROLLER).authorities()));
    for (int i = 1; i <= gateways.size(); i++) {
      text.append(
          """
          [gateway g%1$s]
          address = ::1
          port = %2$s
          router-id = 10.1.%3$s.%4$s
          """
              .formatted(i, FIRST_PORT + i - 1, i >> 8, i & 0xff));
      for (int list = 1; list <= lists; list++) {
        text.append(
            """
            [link g%1$s-w%2$s]
            target = g%1$s
            interface = w%2$s
            capacity-mbps = %3$s
            [path g%1$s-sl%2$s]
            gateway = g%1$s
            list = %2$s
            links = g%1$s-w%2$s
            """
                .formatted(i, list, capacityMbps));
      }
    }
    text.append("[peer reflector]\naddress = ::1\nport = %s\n".formatted(BGP_PORT));
    return text.toString();
  }

  private Path socket() {
    return folder.resolve(CONTROLLER + ".sock");
  }

  /** Returns a gateway by number, from 0. */
  SimulatedGateway gateway(int index) {
    return gateways.get(index);
  }

  /**
   * Starts an elephant flow at a gateway, and registers the rule that the controller may announce
   * for it. Queue pair numbers are unique in the fleet.
   */
  void begin(int index, int queuePair, double bitsPerSecond, int list) {
    SimulatedGateway gateway = gateways.get(index);
    FlowRule rule =
        FlowRule.queuePair(
            ComponentTypes.DEFAULT,
            Prefix.of(gateway.source()),
            Prefix.of(gateway.destination()),
            queuePair);
    rules.put(rule, new ElephantFlow(gateway, FIRST_ID + index + 1, queuePair));
    gateway.begin(queuePair, bitsPerSecond, list);
  }

  /** Starts the controller and waits until all gateways report to it. */
  void start() throws InterruptedException {
    processes.heddle(CONTROLLER, CONTROLLER, JAVA);
    await("the controller", () -> missing(overview()));
  }

  /* Returns the first reason why the controller isn't ready yet; null if it is. */
  private static @Nullable String missing(ControllerStatus.Overview now) {
    List<ControllerStatus.TargetRow> silent =
        now.targets().stream().filter(each -> !each.reports()).toList();
    if (!silent.isEmpty()) {
      return "%s of %s gateways don't report; %s: %s"
          .formatted(
              silent.size(),
              now.targets().size(),
              silent.getFirst().name(),
              silent.getFirst().reason());
    }
    for (ControllerStatus.PeerRow peer : now.peers()) {
      if (!peer.state().equals("ESTABLISHED")) {
        return "the session with %s is %s".formatted(peer.name(), peer.state());
      }
    }
    return now.gaps().isEmpty() ? null : now.gaps().getFirst();
  }

  ControllerStatus.Overview overview() {
    return JsonOutput.of(
        new ControllerCommand(),
        ControllerStatus.Overview.class,
        "show",
        "--json",
        "--control=" + socket());
  }

  ProcessHandle controller() {
    return ProcessHandle.of(processes.pid(CONTROLLER))
        .orElseThrow(() -> new HeddleException("the fleet's controller has ended"));
  }

  /**
   * Waits for a rule for one of these queue pairs, and returns the rule with the time of its
   * arrival.
   */
  ReceivedRule awaitRule(List<Integer> queuePairs) throws InterruptedException {
    await(
        "a rule",
        () ->
            queuePairs.stream().anyMatch(announcedNs::containsKey)
                ? null
                : "none for queue pairs %s".formatted(queuePairs));
    for (int queuePair : queuePairs) {
      Long atNs = announcedNs.remove(queuePair);
      if (atNs != null) {
        return new ReceivedRule(queuePair, atNs);
      }
    }
    throw new IllegalStateException("the rule was there");
  }

  /**
   * Waits until nothing is missing.
   *
   * @param missing returns the reason why the awaited state isn't reached; null once it is
   * @throws HeddleException on a timeout, with that reason and the controller's last log lines
   */
  void await(String what, Supplier<@Nullable String> missing) throws InterruptedException {
    BooleanSupplier over = limits.apply(READY_SECONDS);
    String trouble = "";
    while (!over.getAsBoolean()) {
      processes.check();
      try {
        trouble = missing.get();
        if (trouble == null) {
          return;
        }
      } catch (HeddleException notYet) {
        trouble = String.valueOf(notYet.getMessage());
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
    }
    throw new HeddleException(
        "the fleet in %s: %s timed out: %s; the controller's log: %s"
            .formatted(namespace.name(), what, trouble, processes.lastLogLines(CONTROLLER)));
  }

  /* Applies received rules to the simulated gateways. Called on the speaker's thread. */
  private final class Listener implements SessionListener {
    @Override
    public void established(PeerSession session, Negotiated negotiated) {
      /* Nothing to do until rules arrive. */
    }

    @Override
    public void update(PeerSession session, UpdateMessage update) {
      long now = System.nanoTime();
      FamilyRoutes<FlowRule> heard = update.of(codec);
      if (heard == null) {
        return;
      }
      heard
          .withdrawn()
          .forEach(rule -> {
            ElephantFlow steered = rules.get(rule);
            if (steered != null) {
              steered.gateway().release(steered.queuePair());
            }
          });
      heard
          .announced()
          .forEach(rule -> {
            ElephantFlow steered = rules.get(rule);
            if (steered != null) {
              int list = steering.read(update.attributes(), steered.routerId()).list();
              steered.gateway().steer(steered.queuePair(), list);
              announcedNs.putIfAbsent(steered.queuePair(), now);
            }
          });
    }

    @Override
    public void endOfRib(PeerSession session, AddressFamily family) {
      /* The fleet keeps no stale routes. */
    }

    @Override
    public void markRoutesStale(PeerSession session, AddressFamily family) {
      /* The fleet keeps no stale routes. */
    }

    @Override
    public void dropStaleRoutes(PeerSession session, AddressFamily family) {
      /* The fleet keeps no stale routes. */
    }

    @Override
    public void down(PeerSession session, SessionEnd end) {
      /* Nothing to do: the session ends with the fleet. */
    }

    @Override
    public void attemptFailed(PeerSession session, SessionEnd end) {
      /* Nothing to do: the speaker tries again. */
    }
  }
}
