package io.heddle.cli.wan;

import io.heddle.addr.AddressText;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.wan.host.NodeProcesses;
import io.heddle.controller.run.ControllerStatus;
import io.heddle.dataplane.Buckets;
import io.heddle.dataplane.FlowHash;
import io.heddle.gateway.GatewayStatus;
import io.heddle.platform.HeddleException;
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
 * The draft's example from end to end: four queue pairs, two of which collide on one list by their
 * hash, a controller that moves one, and what happens when it isn't needed or isn't there any more.
 */
public final class WanDemo {
  private static final String CONTROLLER = "controller";
  private static final int FIRST = 0x100;
  private static final double POINTS = 0.03;
  private static final double LEAST_BYTES = 5e6;
  private static final double LONGEST_WITHDRAWAL_S = 15;

  /* Of a link, as in section 4.5 of the draft. */
  private static final List<Double> SHARES = List.of(0.35, 0.30, 0.30, 0.30);
  private static final List<Integer> LISTS = List.of(1, 2, 1, 3);

  /**
   * How patient it is.
   *
   * @param limits for so many seconds on an idle machine, whether they are over
   * @param judgesTimes whether a step that took too long doesn't hold
   */
  public record Patience(IntFunction<BooleanSupplier> limits, boolean judgesTimes) {
    /** By the clock. */
    public static Patience byClock() {
      return new Patience(
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
  private final WanQuestions ask;
  private final WanSteps steps;
  private final List<Integer> queuePairs = queuePairs(LISTS, FIRST);

  private WanDemo(Path folder, WanSteps steps, Setting setting) {
    this.folder = folder;
    this.steps = steps;
    reflected = setting.reflected();
    extent = setting.extent();
    configs = new WanConfigs(folder, reflected, observers());
    ask = new WanQuestions(configs);
  }

  /** Whether GoBGP is installed, so that it can reflect. */
  public static boolean canReflect() {
    return WanDaemons.canReflect();
  }

  /**
   * How much is shown.
   *
   * @param reflected whether GoBGP is between controller and gateways
   * @param extent what of it
   */
  public record Setting(boolean reflected, Extent extent) {}

  /** What is shown. */
  public enum Extent {
    /** What is exact; of times one round, to see that they can be measured. */
    SHORT,
    /** All that takes about a minute. */
    USUAL,
    /** Also what takes minutes. */
    WHOLE
  }

  /**
   * Runs it.
   *
   * @param folder empty; logs and configurations stay there
   * @param progress hears what it is about to show
   * @param cleanup ends its processes and namespaces; their logs are open until then
   * @throws HeddleException where this host can't
   */
  public static WanReport run(
      Path folder, Patience patience, Setting setting, Consumer<String> progress, Cleanup cleanup)
      throws IOException, InterruptedException {
    WanSteps steps = new WanSteps(patience, progress);
    return new WanDemo(folder, steps, setting).run(cleanup);
  }

  /* Each is a Java of its own, which takes seconds of a processor to start. */
  private int observers() {
    return extent == Extent.SHORT ? 1 : WanNodes.WAYS;
  }

  private WanReport run(Cleanup cleanup) throws IOException, InterruptedException {
    try {
      steps.tell("namespaces and daemons");
      Cleanup network = cleanup.add(new Cleanup());
      WanDaemons daemons = new WanDaemons(folder, reflected, observers(), network);
      WanNodes nodes = daemons.nodes;
      NodeProcesses processes = daemons.processes;
      steps.watch(processes);
      daemons.start();
      WanTraffic traffic = network.add(WanTraffic.start(nodes.namespace(WanNodes.H1)));
      begin();
      collide(traffic);
      measure(traffic);
      withdraw(traffic);
      kill(traffic, processes);
      restart(traffic, processes);
      traffic.send(Map.of());
      WanMeasures measures = new WanMeasures(nodes, processes, configs, ask, steps, traffic);
      measures.inTheNetwork(extent);
      /* Seven daemons want a processor, too. */
      network.close();
      measures.alone(folder, extent);
    } catch (WanSteps.StepFailed failed) {
      /* Its step says why. */
    }
    return steps.report(reflected);
  }

  /** The first queue pairs from one on whose hash gives these lists, in their order. */
  static List<Integer> queuePairs(List<Integer> lists, int first) {
    Buckets buckets = Buckets.by(Map.of(1, 1, 2, 1, 3, 1), Set.of(1, 2, 3));
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
          ControllerStatus.Overview now = ask.overview();
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

  private void collide(WanTraffic traffic) throws InterruptedException {
    traffic.send(all());
    steps.step(
        "two elephants collide on list 1 by their hash",
        () -> {
          traffic.check();
          long colliding =
              ask.flows().values().stream()
                  .filter(each -> each.elephant() && each.listByHash().equals("sl1"))
                  .count();
          return colliding == 2
              ? "queue pairs %s and %s are on sl1".formatted(queuePairs.get(0), queuePairs.get(2))
              : null;
        });
    moved("the controller moves the smaller one, and the gateway obeys");
  }

  private void moved(String name) throws InterruptedException {
    int smaller = queuePairs.get(2);
    steps.step(
        name,
        () -> {
          GatewayStatus.Flow flow = ask.flows().get(smaller);
          List<ControllerStatus.RuleRow> rules = ask.overview().rules();
          boolean obeyed =
              rules.size() == 1
                  && rules.getFirst().queuePair() == smaller
                  && flow != null
                  && String.valueOf(flow.steeredBy()).startsWith("controller")
                  && flow.list().equals("sl" + rules.getFirst().list());
          return obeyed ? rules.getFirst().sentence() : null;
        });
  }

  /** What lists have carried since one rule has stood. */
  private record Measured(int list, String since, Map<String, Long> bytes) {}

  private void measure(WanTraffic traffic) throws InterruptedException {
    AtomicReference<@Nullable Measured> begun = new AtomicReference<>();
    steps.step(
        "lists carry 35, 60 and 30 % within 3 points",
        () -> {
          traffic.check();
          List<ControllerStatus.RuleRow> rules = ask.overview().rules();
          if (rules.size() != 1) {
            begun.set(null);
            return null;
          }
          ControllerStatus.RuleRow rule = rules.getFirst();
          Measured before = begun.get();
          if (before == null || !before.since().equals(rule.since())) {
            begun.set(new Measured(rule.list(), rule.since(), ask.bytes()));
            return null;
          }
          return fitting(before, ask.bytes());
        });
    steps.step(
        "the audit finds a reason for each rule",
        () -> {
          ControllerStatus.AuditReport audit = ask.audit();
          return audit.faults() == 0
                  && audit.rows().stream()
                      .allMatch(each -> each.fit() == ControllerStatus.Fit.IN_FORCE)
                  && !audit.rows().isEmpty()
              ? audit.rows().size() + " rule in force, with its reason"
              : null;
        });
  }

  /* Shares of what is sent, since a busy machine sends less; null where they don't fit yet. */
  private static @Nullable String fitting(Measured before, Map<String, Long> now) {
    double[] wanted = {35, before.list() == 2 ? 60 : 30, before.list() == 3 ? 60 : 30};
    double[] shares = new double[WanNodes.WAYS];
    double total = 0;
    for (int i = 0; i < shares.length; i++) {
      String list = "sl" + (i + 1);
      shares[i] = now.getOrDefault(list, 0L) - before.bytes().getOrDefault(list, 0L);
      total += shares[i];
    }
    /* By then single packets don't count any more. */
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
          GatewayStatus.Flow flow = ask.flows().get(moved);
          ControllerStatus.Overview now = ask.overview();
          return now.rules().isEmpty()
                  && ask.rules().isEmpty()
                  && flow != null
                  && flow.steeredBy() == null
                  && flow.list().equals("sl1")
              ? now.decisions().getFirst().sentence()
              : null;
        });
  }

  private void kill(WanTraffic traffic, NodeProcesses processes) throws InterruptedException {
    traffic.send(all());
    moved("it comes back: the rule is there again");
    long killedNs = kill(processes);
    /* A withdrawal that was on its way already says nothing about the grace. */
    while (ask.rules().isEmpty()) {
      processes.heddle(WanNodes.CONTROLLER, CONTROLLER);
      moved("it was just withdrawn: once more");
      killedNs = kill(processes);
    }
    long begin = killedNs;
    steps.step(
        "failure, controller killed: the rule stays for its grace, then the hash decides",
        () -> {
          if (!ask.rules().isEmpty()) {
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
    moved("another controller moves it again");
    traffic.check();
    processes.end(WanNodes.CONTROLLER);
    steps.step(
        "the controller is told to end: it takes its rules with it",
        () -> ask.rules().isEmpty() ? "no rule is left at the gateway" : null);
  }
}
