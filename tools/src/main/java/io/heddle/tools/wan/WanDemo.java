package io.heddle.tools.wan;

import io.heddle.addr.AddressText;
import io.heddle.cli.kit.Cleanup;
import io.heddle.controller.run.ControllerStatus;
import io.heddle.gateway.GatewayStatus;
import io.heddle.gateway.dataplane.Buckets;
import io.heddle.gateway.dataplane.FlowHash;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.tools.wan.host.NodeProcesses;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * End-to-end demo of the example in draft-lll-srv6ops-dci-srv6-lb, section 4.5. The hash puts two
 * of four queue pairs on one segment list, and a controller moves one of them. The demo also shows
 * the control loop when no move is needed, and when there is no controller.
 */
public final class WanDemo {
  private static final String CONTROLLER = "controller";
  private static final int FIRST = 0x100;
  private static final double POINTS = 0.03;
  private static final double LEAST_BYTES = 5e6;
  private static final double LONGEST_WITHDRAWAL_S = 15;

  /*
   * Rate of each queue pair as a share of a link's capacity, from section 4.5 of
   * draft-lll-srv6ops-dci-srv6-lb.
   */
  private static final List<Double> SHARES = List.of(0.35, 0.30, 0.30, 0.30);
  private static final List<Integer> LISTS = List.of(1, 2, 1, 3);

  /**
   * Time limits of the demo.
   *
   * @param limits starts a time limit of this many seconds on an idle machine; the returned
   *     supplier reports whether it has expired
   * @param failsOnTimeout whether a step that takes longer than its own bound fails
   */
  public record TimeLimits(IntFunction<BooleanSupplier> limits, boolean failsOnTimeout) {
    /** Returns limits by elapsed time. */
    public static TimeLimits byClock() {
      return new TimeLimits(
          seconds -> {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
            return () -> System.nanoTime() - end > 0;
          },
          true);
    }
  }

  private final boolean reflected;
  private final Extent extent;
  private final Path folder;
  private final WanConfigs configs;
  private final WanQueries queries;
  private final WanSteps steps;
  private final List<Integer> queuePairs = queuePairs(LISTS, FIRST);

  private WanDemo(Path folder, WanSteps steps, Setting setting) {
    this.folder = folder;
    this.steps = steps;
    reflected = setting.reflected();
    extent = setting.extent();
    configs = new WanConfigs(folder, reflected, observers());
    queries = new WanQueries(configs);
  }

  /** Returns whether GoBGP, which is the route reflector, is installed. */
  public static boolean canReflect() {
    return WanDaemons.canReflect();
  }

  /**
   * Configuration of the demo.
   *
   * @param reflected whether GoBGP is between controller and gateways
   * @param extent parts of the demo that run
   */
  public record Setting(boolean reflected, Extent extent) {}

  /** Extent of the demo. */
  public enum Extent {
    /**
     * Only the closed control loop: a collision, the move that ends it, and the traffic shares of
     * the segment lists.
     */
    LOOP,
    /** All checks of results, and one round of timings that shows that they can be measured. */
    SHORT,
    /** All parts except those that take several minutes; this takes about a minute. */
    USUAL,
    /** All parts, including those that take several minutes. */
    WHOLE
  }

  /**
   * Runs the demo.
   *
   * @param folder empty folder, in which logs and configurations are kept
   * @param progress receives the name of the next step
   * @param cleanup ends the demo's processes and removes its namespaces when it is closed; until
   *     then the logs are open
   * @throws HeddleException if this host lacks a prerequisite
   */
  public static WanReport run(
      Path folder, TimeLimits patience, Setting setting, Consumer<String> progress, Cleanup cleanup)
      throws IOException, InterruptedException {
    WanSteps steps = new WanSteps(patience, progress);
    return new WanDemo(folder, steps, setting).run(cleanup);
  }

  /*
   * Returns the number of P nodes that report. Each reporter is a Java process, which needs seconds
   * of processor time to start.
   */
  private int observers() {
    return extent.compareTo(Extent.SHORT) <= 0 ? 1 : WanNodes.PATHS;
  }

  private WanReport run(Cleanup cleanup) throws IOException, InterruptedException {
    try {
      steps.announce("namespaces and daemons");
      Cleanup network = cleanup.add(new Cleanup());
      WanDaemons daemons = new WanDaemons(folder, reflected, observers(), network);
      NetworkNamespaces nodes = daemons.nodes;
      NodeProcesses processes = daemons.processes;
      steps.watch(processes);
      daemons.start();
      WanTraffic traffic = network.add(WanTraffic.start(nodes.name(WanNodes.H1)));
      begin();
      startCollision(traffic);
      measure(traffic);
      if (extent == Extent.LOOP) {
        return steps.report(reflected);
      }
      withdraw(traffic);
      kill(traffic, processes);
      restart(traffic, processes);
      traffic.send(Map.of());
      WanMeasures measures = new WanMeasures(nodes, processes, configs, queries, steps, traffic);
      measures.measureInNetwork(extent);
      /* The seven daemons would take processor time from the next measurements. */
      network.close();
      measures.measureStandalone(folder, extent);
    } catch (WanSteps.StepFailed failed) {
      /* The report's failed step contains the reason. */
    }
    return steps.report(reflected);
  }

  /**
   * Returns, for each of these segment lists, the number of a queue pair whose hash selects the
   * list. The numbers ascend; each is the lowest possible, the first one at least {@code first}.
   */
  static List<Integer> queuePairs(List<Integer> lists, int first) {
    Buckets buckets = Buckets.ofWeights(Map.of(1, 1, 2, 1, 3, 1), Set.of(1, 2, 3));
    List<Integer> found = new ArrayList<>();
    for (int list : lists) {
      int queuePair = found.isEmpty() ? first : found.getLast() + 1;
      while (buckets.list(FlowHash.bucket(hash(queuePair))) != list) {
        queuePair++;
      }
      found.add(queuePair);
    }
    return found;
  }

  private static int hash(int queuePair) {
    return FlowHash.ofQueuePair(
        Objects.requireNonNull(AddressText.parse(WanNodes.SOURCE)),
        Objects.requireNonNull(AddressText.parse(WanNodes.DESTINATION)),
        WanTraffic.PORT,
        queuePair,
        WanConfigs.SEED);
  }

  private void begin() throws InterruptedException {
    steps.step(
        "gateways report, and sessions are up",
        () -> {
          ControllerStatus.Overview now = queries.overview();
          return WanMeasures.isReady(now)
              ? "%s gateways and routers, %s BGP %s"
                  .formatted(
                      now.targets().size(),
                      now.peers().size(),
                      reflected ? "session with the reflector" : "sessions")
              : null;
        });
  }

  private Map<Integer, Double> all() {
    Map<Integer, Double> all = new TreeMap<>();
    for (int i = 0; i < queuePairs.size(); i++) {
      all.put(queuePairs.get(i), SHARES.get(i) * WanConfigs.CAPACITY_MBPS * 1e6);
    }
    return all;
  }

  private void startCollision(WanTraffic traffic) throws InterruptedException {
    traffic.send(all());
    steps.step(
        "two elephants collide on list 1 by their hash",
        () -> {
          traffic.check();
          long colliding =
              queries.flows().values().stream()
                  .filter(each -> each.elephant() && each.listByHash().equals("sl1"))
                  .count();
          return colliding == 2
              ? "queue pairs %s and %s are on sl1".formatted(queuePairs.get(0), queuePairs.get(2))
              : null;
        });
    awaitMove("the controller moves the smaller one, and the gateway follows");
  }

  private void awaitMove(String name) throws InterruptedException {
    int smaller = queuePairs.get(2);
    steps.step(
        name,
        () -> {
          GatewayStatus.Flow flow = queries.flows().get(smaller);
          List<ControllerStatus.RuleRow> rules = queries.overview().rules();
          boolean obeyed =
              rules.size() == 1
                  && rules.getFirst().queuePair() == smaller
                  && flow != null
                  && String.valueOf(flow.steeredBy()).startsWith("controller")
                  && flow.list().equals("sl" + rules.getFirst().list());
          return obeyed ? rules.getFirst().sentence() : null;
        });
  }

  /** Bytes per list when a rule was first seen as active. */
  private record Measured(int list, String since, Map<String, Long> bytes) {}

  private void measure(WanTraffic traffic) throws InterruptedException {
    AtomicReference<@Nullable Measured> begun = new AtomicReference<>();
    steps.step(
        "lists carry 35, 60 and 30 % within 3 points",
        () -> {
          traffic.check();
          List<ControllerStatus.RuleRow> rules = queries.overview().rules();
          if (rules.size() != 1) {
            begun.set(null);
            return null;
          }
          ControllerStatus.RuleRow rule = rules.getFirst();
          Measured before = begun.get();
          if (before == null || !before.since().equals(rule.since())) {
            begun.set(new Measured(rule.list(), rule.since(), queries.bytes()));
            return null;
          }
          return observedIfFitting(before, queries.bytes());
        });
    steps.step(
        "the audit finds a reason for each rule",
        () -> {
          ControllerStatus.AuditReport audit = queries.audit();
          return audit.faults() == 0
                  && audit.rows().stream()
                      .allMatch(each -> each.fit() == ControllerStatus.Fit.IN_FORCE)
                  && !audit.rows().isEmpty()
              ? audit.rows().size() + " rule in force, with its reason"
              : null;
        });
  }

  /*
   * Returns a sentence with the lists' shares of the traffic that was sent; null while they differ
   * from the expected shares. Shares are compared, since a busy machine sends less than the set
   * rate.
   */
  private static @Nullable String observedIfFitting(Measured before, Map<String, Long> now) {
    double[] wanted = {35, before.list() == 2 ? 60 : 30, before.list() == 3 ? 60 : 30};
    double[] shares = new double[WanNodes.PATHS];
    double total = 0;
    for (int i = 0; i < shares.length; i++) {
      String list = "sl" + (i + 1);
      shares[i] = now.getOrDefault(list, 0L) - before.bytes().getOrDefault(list, 0L);
      total += shares[i];
    }
    /* After LEAST_BYTES a single packet hardly changes the shares. */
    boolean fits = total >= LEAST_BYTES;
    for (int i = 0; i < shares.length; i++) {
      shares[i] *= 1.25 / Math.max(1, total);
      fits &= Math.abs(shares[i] - wanted[i] / 100) <= POINTS;
    }
    return fits
        ? String.format(
            Locale.ROOT,
            "%.1f, %.1f and %.1f %% of a link, of 125 %% that are sent",
            100 * shares[0],
            100 * shares[1],
            100 * shares[2])
        : null;
  }

  private void withdraw(WanTraffic traffic) throws InterruptedException {
    Map<Integer, Double> rest = all();
    rest.remove(queuePairs.getFirst());
    traffic.send(rest);
    int moved = queuePairs.get(2);
    steps.step(
        "the other one ends: the rule is withdrawn, and the hash decides again",
        LONGEST_WITHDRAWAL_S,
        () -> {
          GatewayStatus.Flow flow = queries.flows().get(moved);
          ControllerStatus.Overview now = queries.overview();
          return now.rules().isEmpty()
                  && queries.rules().isEmpty()
                  && flow != null
                  && flow.steeredBy() == null
                  && flow.list().equals("sl1")
              ? now.decisions().getFirst().sentence()
              : null;
        });
  }

  private void kill(WanTraffic traffic, NodeProcesses processes) throws InterruptedException {
    traffic.send(all());
    awaitMove("the controller restarts: the rule is announced again");
    long killedNs = kill(processes);
    /*
     * If a withdrawal was in flight when the controller was killed, the rule ends without the grace
     * period. Then a new controller is started and killed.
     */
    while (queries.rules().isEmpty()) {
      processes.heddle(WanNodes.CONTROLLER, CONTROLLER);
      awaitMove("the rule was just withdrawn: repeat");
      killedNs = kill(processes);
    }
    long begin = killedNs;
    steps.step(
        "failure, controller killed: the rule stays for its grace period, then the hash decides",
        () -> {
          if (!queries.rules().isEmpty()) {
            return null;
          }
          double seconds = (System.nanoTime() - begin) / 1e9;
          String sentence = String.format(Locale.ROOT, "gone after %.1f s", seconds);
          if (seconds < WanConfigs.GRACE_S) {
            throw new NodeProcesses.Ended(sentence);
          }
          return sentence;
        });
  }

  private static long kill(NodeProcesses processes) {
    long now = System.nanoTime();
    processes.kill(WanNodes.CONTROLLER);
    return now;
  }

  private void restart(WanTraffic traffic, NodeProcesses processes) throws InterruptedException {
    processes.heddle(WanNodes.CONTROLLER, CONTROLLER);
    awaitMove("another controller moves it again");
    traffic.check();
    processes.end(WanNodes.CONTROLLER);
    steps.step(
        "the controller is stopped: it withdraws its rules",
        () -> queries.rules().isEmpty() ? "no rule is left at the gateway" : null);
  }
}
