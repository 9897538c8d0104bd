package io.heddle.tools.wan;

import io.heddle.addr.AddressText;
import io.heddle.cli.kit.Cleanup;
import io.heddle.controller.run.ControllerStatus;
import io.heddle.gateway.GatewayStatus;
import io.heddle.gateway.dataplane.FlowHash;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.tools.wan.figure.FailureScenario;
import io.heddle.tools.wan.figure.FleetFigures;
import io.heddle.tools.wan.figure.PollFigures;
import io.heddle.tools.wan.figure.RuleFigures;
import io.heddle.tools.wan.figure.Samples;
import io.heddle.tools.wan.figure.SolverFigure;
import io.heddle.tools.wan.figure.WanFigure;
import io.heddle.tools.wan.host.NodeProcesses;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Measurements of the demo. The demo's gateways run, its controller has ended, and no traffic is
 * sent.
 */
final class WanMeasures {
  private static final String CONTROLLER = "controller";
  private static final int QUICK_INTERVAL_MS = 200;

  private static final int LABELLED = 64;
  private static final int LABELLED_FROM = 0x2000;
  private static final int SPREAD = 600;
  private static final int SPREAD_FROM = 0x4000;
  private static final long PACKETS_EACH = 5;
  private static final int BURST = 64;
  private static final int BURST_PORT = 50_001;
  private static final int BURST_BYTES = 64;
  private static final double MOST_POINTS = 15;

  private static final int LATENCY_FROM = 0x8000;
  private static final int LATENCY_ROUNDS = 3;
  private static final int LATENCY_WHOLE_ROUNDS = 10;
  private static final double MOST_LATENCY_S = 2.5;

  private static final int GAIN_FROM = 0x10000;
  private static final double SATURATING = 1.5;
  private static final int GAIN_SECONDS = 4;
  private static final double LEAST_GAIN = 1.9;

  private final NetworkNamespaces nodes;
  private final NodeProcesses processes;
  private final WanConfigs configs;
  private final WanQueries queries;
  private final WanSteps steps;
  private final WanTraffic traffic;

  WanMeasures(
      NetworkNamespaces nodes,
      NodeProcesses processes,
      WanConfigs configs,
      WanQueries queries,
      WanSteps steps,
      WanTraffic traffic) {
    this.nodes = nodes;
    this.processes = processes;
    this.configs = configs;
    this.queries = queries;
    this.steps = steps;
    this.traffic = traffic;
  }

  /** Measures the figures that need the demo's network. */
  void measureInNetwork(WanDemo.Extent extent) throws IOException, InterruptedException {
    try (WanCapture capture = new WanCapture(nodes.name(WanNodes.gateway(2)))) {
      labels(capture);
      spread(capture);
      latency(capture, rounds(extent));
      if (extent == WanDemo.Extent.WHOLE) {
        gain(capture);
      }
    }
    steps.addTimed(
        "the path with the gateway's program, and without",
        () -> List.of(new WanPath(nodes).measure()));
  }

  private static int rounds(WanDemo.Extent extent) {
    return switch (extent) {
      case LOOP, SHORT -> 1;
      case USUAL -> LATENCY_ROUNDS;
      case WHOLE -> LATENCY_WHOLE_ROUNDS;
    };
  }

  /**
   * Measures the figures that need no network, or only a network that their measurement creates.
   */
  void measureStandalone(Path folder, WanDemo.Extent extent)
      throws IOException, InterruptedException {
    failures(folder);
    steps.addExact(
        "the solver against all placements of small cases", () -> List.of(SolverFigure.measure()));
    steps.addTimed("ten thousand queue pairs in a data plane", PollFigures::measure);
    steps.addTimed(
        "ten thousand rules by BGP, and single ones",
        () -> RuleFigures.measure(folder, steps::limit));
    if (extent != WanDemo.Extent.SHORT) {
      steps.addTimed(
          "a controller's answer to telemetry",
          () -> List.of(FleetFigures.reaction(folder, steps::limit)));
    }
    if (extent == WanDemo.Extent.WHOLE) {
      steps.addTimed(
          "a controller of a hundred simulated gateways",
          () -> FleetFigures.load(folder, steps::limit));
    }
  }

  /*
   * Checks how a gateway reacts to a faulty controller. Earlier steps of the demo show a killed
   * controller and lost daemons.
   */
  private void failures(Path folder) throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      FailureScenario scene = new FailureScenario(folder, cleanup);
      steps.step("failure, wrong queue pair: matches nothing", scene::wrongQueuePair);
      steps.step("failure, unknown list: the rule waits, the hash decides", scene::unknownList);
      steps.step("failure, malformed rules: counted, and the session stays", scene::malformed);
      steps.step("failure, stale rule: ends by its age", scene::stale);
      steps.step(
          "failure, session lost without graceful restart: hash at once", scene::sessionLost);
    }
  }

  /*
   * Checks that all packets of a queue pair have one outer flow label, which is the label that the
   * gateway reports. All queue pairs share one 5-tuple.
   */
  private void labels(WanCapture capture) throws InterruptedException {
    AtomicReference<@Nullable Integer> other = new AtomicReference<>();
    steps.step(
        "the outer flow label of each queue pair is constant, and the reported one",
        () -> {
          burst(WanNodes.DESTINATION, LABELLED_FROM, LABELLED);
          if (!arrived(capture, LABELLED_FROM, LABELLED)) {
            return null;
          }
          Map<Integer, GatewayStatus.Flow> flows = queries.flows();
          int odd = 0;
          for (int queuePair = LABELLED_FROM; queuePair < LABELLED_FROM + LABELLED; queuePair++) {
            GatewayStatus.Flow flow = flows.get(queuePair);
            if (flow == null) {
              return null;
            }
            odd += capture.seen(queuePair).labels().equals(Set.of(flow.flowLabel())) ? 0 : 1;
          }
          other.set(odd);
          return "%s queue pairs of one 5-tuple, %s packets of each at least"
              .formatted(LABELLED, PACKETS_EACH);
        });
    steps.addExact(
        WanFigure.atMost(
            "C",
            "queue pairs with another label",
            Objects.requireNonNull(other.get()),
            "",
            0,
            "than the gateway reports, or with several; of " + LABELLED));
  }

  /*
   * Checks that the PE spreads queue pairs over its links by their outer flow labels. The PE's
   * kernel hashes source, destination and flow label (fib_multipath_hash_policy 0).
   */
  private void spread(WanCapture capture) throws InterruptedException {
    double[] packets = new double[WanNodes.PATHS];
    steps.step(
        "a router behind balances them by that label",
        () -> {
          burst(WanNodes.PE_DESTINATION, SPREAD_FROM, SPREAD);
          if (!arrived(capture, SPREAD_FROM, SPREAD)) {
            return null;
          }
          for (int queuePair = SPREAD_FROM; queuePair < SPREAD_FROM + SPREAD; queuePair++) {
            Map<Integer, Long> paths = capture.seen(queuePair).packets();
            if (paths.size() != 1) {
              throw new NodeProcesses.Ended(
                  "queue pair %s took %s paths at once".formatted(queuePair, paths.size()));
            }
            packets[paths.keySet().iterator().next() - 1]++;
          }
          return String.format(
              Locale.ROOT,
              "%.0f, %.0f and %.0f of %s queue pairs on the three paths",
              packets[0],
              packets[1],
              packets[2],
              SPREAD);
        });
    double off = 0;
    for (double each : packets) {
      off = Math.max(off, Math.abs(each / SPREAD - 1.0 / WanNodes.PATHS));
    }
    steps.addExact(
        WanFigure.atMost(
            "C",
            "share of a path, off by",
            100 * off,
            "points",
            MOST_POINTS,
            "the largest deviation of three paths from a third, of %s queue pairs"
                .formatted(SPREAD)));
  }

  private static boolean arrived(WanCapture capture, int from, int count) {
    for (int queuePair = from; queuePair < from + count; queuePair++) {
      if (capture.seen(queuePair).count() < PACKETS_EACH) {
        return false;
      }
    }
    return true;
  }

  /*
   * Sends a few packets of each queue pair. Packets may be lost until neighbours are resolved; the
   * caller then repeats the burst.
   */
  private void burst(String destination, int from, int count) {
    NetworkNamespace.call(
        nodes.name(WanNodes.H1),
        () -> {
          InetSocketAddress own =
              new InetSocketAddress(InetAddress.getByName(WanNodes.SOURCE), BURST_PORT);
          InetAddress to = Objects.requireNonNull(AddressText.parse(destination));
          try (DatagramSocket socket = new DatagramSocket(own)) {
            int sent = 0;
            for (int time = 0; time < PACKETS_EACH; time++) {
              for (int queuePair = from; queuePair < from + count; queuePair++) {
                ByteBuffer payload = ByteBuffer.allocate(BURST_BYTES);
                payload.putInt(WanTraffic.BTH_WORD).putInt(queuePair);
                socket.send(
                    new DatagramPacket(payload.array(), BURST_BYTES, to, FlowHash.ROCE_PORT));
                if (++sent % BURST == 0) {
                  TimeUnit.MILLISECONDS.sleep(1);
                }
              }
            }
          }
          return null;
        });
  }

  private void startController() throws IOException, InterruptedException {
    configs.write(WanNodes.CONTROLLER, configs.controller(QUICK_INTERVAL_MS));
    processes.heddle(WanNodes.CONTROLLER, CONTROLLER);
  }

  /** Returns whether all gateways report to the controller and all its BGP sessions are up. */
  static boolean isReady(ControllerStatus.Overview now) {
    return now.gaps().isEmpty()
        && now.targets().stream().allMatch(ControllerStatus.TargetRow::reports)
        && !now.peers().isEmpty()
        && now.peers().stream().allMatch(each -> each.state().equals("ESTABLISHED"));
  }

  private void awaitController() throws InterruptedException {
    steps.step(
        "a controller with five cycles a second is ready",
        () -> {
          ControllerStatus.Overview now = queries.overview();
          return isReady(now) ? "all gateways report and all sessions are up" : null;
        });
  }

  /*
   * Measures the time from the start of two elephants whose hashes select the same list until the
   * first packet of either uses another list.
   */
  private void latency(WanCapture capture, int rounds) throws IOException, InterruptedException {
    startController();
    awaitController();
    Samples samples = new Samples();
    int next = LATENCY_FROM;
    for (int round = 0; round < rounds; round++) {
      List<Integer> pair = WanDemo.queuePairs(List.of(1, 1), next);
      next = pair.getLast() + 1;
      long begin = System.nanoTime();
      traffic.send(rates(pair, 0.45, 0.40));
      steps.step(
          "new elephants collide and are separated, %s of %s".formatted(round + 1, rounds),
          () -> {
            traffic.check();
            Long moved = firstElsewhere(capture, pair);
            if (moved == null) {
              return null;
            }
            samples.addNs(moved - begin);
            return String.format(
                Locale.ROOT,
                "the first packet on another list came after %.2f s",
                (moved - begin) / 1e9);
          });
      traffic.send(Map.of());
      steps.step(
          "they end, and so does the rule",
          () ->
              queries.rules().isEmpty()
                      && queries.overview().rules().isEmpty()
                      && queries.flows().values().stream().noneMatch(GatewayStatus.Flow::elephant)
                  ? "no rule and no elephant is left"
                  : null);
    }
    processes.end(WanNodes.CONTROLLER);
    steps.addTimed(
        List.of(
            WanFigure.atMost(
                "D",
                "new elephant until its first packet on the new list",
                samples.percentileMs(95) / 1e3,
                "s",
                MOST_LATENCY_S,
                "95 of 100 of %s rounds, by a controller with five cycles a second"
                    .formatted(rounds))));
  }

  private static Map<Integer, Double> rates(List<Integer> pair, double first, double second) {
    Map<Integer, Double> bits = new HashMap<>();
    bits.put(pair.getFirst(), first * WanConfigs.CAPACITY_MBPS * 1e6);
    bits.put(pair.getLast(), second * WanConfigs.CAPACITY_MBPS * 1e6);
    return bits;
  }

  private static @Nullable Long firstElsewhere(WanCapture capture, List<Integer> pair) {
    List<Long> found = new ArrayList<>();
    for (int queuePair : pair) {
      capture
          .seen(queuePair)
          .firstNs()
          .forEach((path, firstNs) -> {
            if (path != 1) {
              found.add(firstNs);
            }
          });
    }
    return found.stream().min(Long::compare).orElse(null);
  }

  /*
   * Measures the throughput of two queue pairs that together exceed a shaped link, before and after
   * the controller separates them.
   */
  private void gain(WanCapture capture) throws IOException, InterruptedException {
    for (int path = 1; path <= WanNodes.PATHS; path++) {
      nodes
          .node(WanNodes.gateway(1))
          .run(
              "tc qdisc add dev w%s root tbf rate %smbit burst 64kb limit 512kb"
                  .formatted(path, WanConfigs.CAPACITY_MBPS)
                  .split(" "));
    }
    List<Integer> pair = WanDemo.queuePairs(List.of(1, 1), GAIN_FROM);
    traffic.send(rates(pair, SATURATING, SATURATING));
    steps.step(
        "two queue pairs saturate one list",
        () -> {
          traffic.check();
          Map<Integer, GatewayStatus.Flow> flows = queries.flows();
          return pair.stream()
                  .allMatch(each -> {
                    GatewayStatus.Flow flow = flows.get(each);
                    return flow != null && flow.elephant();
                  })
              ? String.format(Locale.ROOT, "each is sent at %.0f %% of the link", 100 * SATURATING)
              : null;
        });
    double before = delivered(capture, pair);
    startController();
    steps.step(
        "the controller separates them",
        () ->
            queries.rules().stream().anyMatch(each -> each.active() && each.used())
                    && firstElsewhere(capture, pair) != null
                ? "one uses another list"
                : null);
    double after = delivered(capture, pair);
    traffic.send(Map.of());
    processes.end(WanNodes.CONTROLLER);
    steps.addTimed(
        List.of(
            WanFigure.atLeast(
                "B",
                "gain of two saturating queue pairs",
                after / before,
                "times",
                LEAST_GAIN,
                String.format(
                    Locale.ROOT,
                    "%.0f packets a second delivered on one list of %s Mbit/s, %.0f on two",
                    before,
                    WanConfigs.CAPACITY_MBPS,
                    after))));
  }

  /* Returns the number of packets per second that arrive, measured after queues have settled. */
  private static double delivered(WanCapture capture, List<Integer> pair)
      throws InterruptedException {
    TimeUnit.SECONDS.sleep(1);
    capture.clear();
    long begin = System.nanoTime();
    TimeUnit.SECONDS.sleep(GAIN_SECONDS);
    double seconds = (System.nanoTime() - begin) / 1e9;
    long packets = pair.stream().mapToLong(each -> capture.seen(each).count()).sum();
    if (packets == 0) {
      throw new HeddleException("no packet of the saturating queue pairs arrives");
    }
    return packets / seconds;
  }
}
