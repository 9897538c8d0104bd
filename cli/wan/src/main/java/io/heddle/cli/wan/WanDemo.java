package io.heddle.cli.wan;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.heddle.addr.AddressText;
import io.heddle.cli.controller.ControllerCommand;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Json;
import io.heddle.controller.run.ControllerStatus;
import io.heddle.dataplane.Buckets;
import io.heddle.dataplane.FlowHash;
import io.heddle.gateway.GatewayStatus;
import io.heddle.gateway.command.GatewayCommand;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/**
 * The draft's example from end to end: four queue pairs, two of which collide on one list by their
 * hash, a controller that moves one, and what happens when it isn't needed or isn't there any more.
 */
public final class WanDemo {
  private static final Path GOBGP = Path.of("/usr/bin/gobgpd");
  private static final String CONTROLLER = "controller";
  private static final int STEP_SECONDS = 60;
  private static final int LOOK_MS = 300;
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

  private final Patience patience;
  private final Consumer<String> progress;
  private final boolean reflected;
  private final Path folder;
  private final WanConfigs configs;
  private @Nullable WanProcesses daemons;
  private final List<WanReport.Step> steps = new ArrayList<>();
  private final List<Integer> queuePairs = queuePairs();

  private WanDemo(Path folder, Patience patience, boolean reflected, Consumer<String> progress) {
    this.folder = folder;
    this.patience = patience;
    this.reflected = reflected;
    this.progress = progress;
    configs = new WanConfigs(folder, reflected);
  }

  /** Whether GoBGP is installed, so that it can reflect. */
  public static boolean canReflect() {
    return Files.isExecutable(GOBGP);
  }

  /**
   * Runs it.
   *
   * @param folder empty; logs and configurations stay there
   * @param reflected whether GoBGP is between controller and gateways
   * @param progress hears what it is about to show
   * @param cleanup ends its processes and namespaces; their logs are open until then
   * @throws HeddleException where this host can't
   */
  public static WanReport run(
      Path folder, Patience patience, boolean reflected, Consumer<String> progress, Cleanup cleanup)
      throws IOException, InterruptedException {
    return new WanDemo(folder, patience, reflected, progress).run(cleanup);
  }

  private WanReport run(Cleanup cleanup) throws IOException, InterruptedException {
    try {
      WanNodes nodes = cleanup.add(new WanNodes());
      nodes.setUp();
      WanProcesses processes = new WanProcesses(folder, nodes);
      daemons = cleanup.add(processes);
      configure();
      reflect(nodes, processes);
      processes.heddle(WanNodes.gateway(1), "gateway");
      processes.heddle(WanNodes.gateway(2), "gateway");
      processes.heddle(WanNodes.CONTROLLER, CONTROLLER);
      WanTraffic traffic = cleanup.add(WanTraffic.start(nodes.namespace(WanNodes.H1)));
      begin();
      collide(traffic);
      measure(traffic);
      withdraw(traffic);
      kill(traffic, processes);
      restart(traffic, processes);
      return WanReport.of(reflected, steps);
    } catch (StepFailed failed) {
      return WanReport.of(reflected, steps);
    }
  }

  private void configure() throws IOException {
    Certificates certificates = new Certificates(folder);
    for (int side = 1; side <= 2; side++) {
      certificates.sign(WanNodes.gateway(side), WanNodes.management(side));
      Files.writeString(folder.resolve(WanNodes.gateway(side) + ".conf"), configs.gateway(side));
    }
    certificates.sign(WanNodes.CONTROLLER, WanNodes.controller(1));
    Files.writeString(folder.resolve(WanNodes.CONTROLLER + ".conf"), configs.controller());
  }

  private void reflect(WanNodes nodes, WanProcesses processes) throws IOException {
    if (!reflected) {
      return;
    }
    for (String each : List.of(WanConfigs.REFLECTOR, WanConfigs.CONTROLLER_AT)) {
      nodes.ip(WanNodes.CONTROLLER, "addr add " + each + "/128 dev lo nodad");
    }
    for (int side = 1; side <= 2; side++) {
      nodes.ip(
          WanNodes.gateway(side),
          "route add fd00:c:9::/64 via " + WanNodes.controller(side) + " dev mgmt");
    }
    Path file = Files.writeString(folder.resolve("gobgp.toml"), configs.reflector());
    processes.start(
        "reflector",
        WanNodes.CONTROLLER,
        List.of(GOBGP.toString(), "-f", file.toString(), "--api-hosts", "127.0.0.1:50051"));
  }

  /* The first queue pairs whose hash gives the lists of the draft's example. */
  private static List<Integer> queuePairs() {
    Buckets buckets = Buckets.by(Map.of(1, 1, 2, 1, 3, 1), Set.of(1, 2, 3));
    List<Integer> found = new ArrayList<>();
    for (int list : LISTS) {
      int queuePair = found.isEmpty() ? FIRST : found.getLast() + 1;
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

  private static final class StepFailed extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  /* One step: waits until the condition holds; the sentence is what was seen then. */
  private void step(String name, Supplier<@Nullable String> seen) throws InterruptedException {
    step(name, Double.MAX_VALUE, seen);
  }

  private void step(String name, double longestSeconds, Supplier<@Nullable String> seen)
      throws InterruptedException {
    progress.accept(name);
    long begin = System.nanoTime();
    BooleanSupplier over = patience.limits().apply(STEP_SECONDS);
    String sentence = null;
    String trouble = "it didn't come";
    while (sentence == null && !over.getAsBoolean()) {
      TimeUnit.MILLISECONDS.sleep(LOOK_MS);
      try {
        if (daemons != null) {
          daemons.check();
        }
        sentence = seen.get();
      } catch (WanProcesses.Ended ended) {
        trouble = String.valueOf(ended.getMessage());
        break;
      } catch (HeddleException notYet) {
        trouble = String.valueOf(notYet.getMessage());
      }
    }
    double seconds = (System.nanoTime() - begin) / 1e9;
    boolean inTime = !patience.judgesTimes() || seconds <= longestSeconds;
    steps.add(
        new WanReport.Step(
            name, sentence != null && inTime, seconds, sentence == null ? trouble : sentence));
    if (sentence == null) {
      throw new StepFailed();
    }
  }

  private void begin() throws InterruptedException {
    step(
        "gateways report, and sessions are up",
        () -> {
          ControllerStatus.Overview now = overview();
          boolean ready =
              now.gaps().isEmpty()
                  && now.targets().stream().allMatch(ControllerStatus.TargetRow::reports)
                  && !now.peers().isEmpty()
                  && now.peers().stream().allMatch(each -> each.state().equals("ESTABLISHED"));
          return ready
              ? "%s gateways, %s BGP %s"
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
    step(
        "two elephants collide on list 1 by their hash",
        () -> {
          traffic.check();
          long colliding =
              flows().values().stream()
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
    step(
        name,
        () -> {
          GatewayStatus.Flow flow = flows().get(smaller);
          List<ControllerStatus.RuleRow> rules = overview().rules();
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
    step(
        "lists carry 35, 60 and 30 % within 3 points",
        () -> {
          traffic.check();
          List<ControllerStatus.RuleRow> rules = overview().rules();
          if (rules.size() != 1) {
            begun.set(null);
            return null;
          }
          ControllerStatus.RuleRow rule = rules.getFirst();
          Measured before = begun.get();
          if (before == null || !before.since().equals(rule.since())) {
            begun.set(new Measured(rule.list(), rule.since(), bytes()));
            return null;
          }
          return fitting(before, bytes());
        });
    step(
        "the audit finds a reason for each rule",
        () -> {
          ControllerStatus.AuditReport audit = audit();
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
    step(
        "the other one ends: the rule is withdrawn, and the hash decides again",
        LONGEST_WITHDRAWAL_S,
        () -> {
          GatewayStatus.Flow flow = flows().get(moved);
          ControllerStatus.Overview now = overview();
          return now.rules().isEmpty()
                  && rules().isEmpty()
                  && flow != null
                  && flow.steeredBy() == null
                  && flow.list().equals("sl1")
              ? now.decisions().getFirst().sentence()
              : null;
        });
  }

  private void kill(WanTraffic traffic, WanProcesses processes) throws InterruptedException {
    traffic.send(all());
    moved("it comes back: the rule is there again");
    long killedNs = kill(processes);
    /* A withdrawal that was on its way already says nothing about the grace. */
    while (rules().isEmpty()) {
      processes.heddle(WanNodes.CONTROLLER, CONTROLLER);
      moved("it was just withdrawn: once more");
      killedNs = kill(processes);
    }
    long begin = killedNs;
    step(
        "the controller is killed: the rule stays for its grace, then the hash decides",
        () -> {
          if (!rules().isEmpty()) {
            return null;
          }
          double seconds = (System.nanoTime() - begin) / 1e9;
          String sentence = String.format(Locale.ROOT, "gone after %.1f s", seconds);
          if (seconds < WanConfigs.GRACE_S) {
            throw new WanProcesses.Ended(sentence);
          }
          return sentence;
        });
  }

  private static long kill(WanProcesses processes) {
    long now = System.nanoTime();
    processes.kill(WanNodes.CONTROLLER);
    return now;
  }

  private void restart(WanTraffic traffic, WanProcesses processes) throws InterruptedException {
    processes.heddle(WanNodes.CONTROLLER, CONTROLLER);
    moved("another controller moves it again");
    traffic.check();
    processes.end(WanNodes.CONTROLLER);
    step(
        "the controller is told to end: it takes its rules with it",
        () -> rules().isEmpty() ? "no rule is left at the gateway" : null);
  }

  private Map<Integer, GatewayStatus.Flow> flows() {
    Map<Integer, GatewayStatus.Flow> flows = new TreeMap<>();
    gateway("flows", GatewayStatus.Flows.class)
        .flows()
        .forEach(each -> flows.put(each.queuePair(), each));
    return flows;
  }

  private List<GatewayStatus.Rule> rules() {
    return gateway("rules", GatewayStatus.Rules.class).rules();
  }

  private Map<String, Long> bytes() {
    Map<String, Long> bytes = new TreeMap<>();
    gateway("lists", GatewayStatus.Lists.class)
        .lists()
        .forEach(each -> bytes.put(each.name(), each.bytes()));
    return bytes;
  }

  private <T> T gateway(String what, Class<T> document) {
    return ask(
        new GatewayCommand(),
        document,
        "show",
        what,
        "--json",
        "--control=" + configs.socket(WanNodes.gateway(1)));
  }

  private ControllerStatus.Overview overview() {
    return ask(
        new ControllerCommand(), ControllerStatus.Overview.class, "show", "--json", control());
  }

  private ControllerStatus.AuditReport audit() {
    return ask(
        new ControllerCommand(), ControllerStatus.AuditReport.class, "audit", "--json", control());
  }

  private String control() {
    return "--control=" + configs.socket(WanNodes.CONTROLLER);
  }

  /* By the commands themselves, as an operator would. */
  private static <T> T ask(Object command, Class<T> document, String... words) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = new CommandLine(command);
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    line.setExecutionExceptionHandler((failed, of, parsed) -> {
      err.append(failed.getMessage());
      return 1;
    });
    line.execute(words);
    if (out.toString().isEmpty()) {
      throw new HeddleException(err.toString().strip());
    }
    try {
      return Json.mapper().readValue(out.toString(), document);
    } catch (JsonProcessingException malformed) {
      throw new HeddleException("an answer isn't understood: " + out, malformed);
    }
  }
}
