package io.heddle.tools.wan;

import io.heddle.cli.kit.Cleanup;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Soak test with random load between two data centres, while daemons are killed and a path is cut.
 * The load is constant within a phase. No traffic is sent between phases, so that every packet can
 * be accounted for.
 */
public final class WanSoak {
  private static final int WAIT_SECONDS = 120;
  private static final int POLL_MS = 200;

  /**
   * Seconds after the start of a phase in which flows of the previous phase may still count as
   * load.
   */
  private static final int SETTLED_SECONDS = 6;

  private static final String CUT_PATH = "w2";
  private static final String CUT_ADDRESS = "fc00:12::1/64";

  /**
   * Settings of the soak.
   *
   * @param seed seed of load and faults
   * @param minutes minutes after which no further phase begins; ignored if {@code phases} is
   *     positive
   * @param phases number of phases after which the soak ends; 0 if {@code minutes} decides
   * @param phaseSeconds shortest time for which each phase sends
   */
  public record Setting(long seed, int minutes, int phases, int phaseSeconds) {}

  /** Period of a phase without fault or change of load. */
  private record CalmPeriod(int phase, Instant from, Instant to) {}

  private final Path folder;
  private final Setting setting;
  private final WanDemo.TimeLimits patience;
  private final Consumer<String> progress;
  private final boolean reflected = WanDaemons.canReflect();
  private final WanDaemons daemons;
  private final WanQueries queries;
  private final WanTraffic traffic;
  private final Map<String, Integer> faults = new TreeMap<>();
  private final List<CalmPeriod> calmPeriods = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private long arrivedBefore;
  private long sentBefore;
  private long lost;
  private long lostInCuts;
  private int phases;

  private WanSoak(
      Path folder,
      Setting setting,
      WanDemo.TimeLimits patience,
      Consumer<String> progress,
      Cleanup cleanup)
      throws IOException {
    this.folder = folder;
    this.setting = setting;
    this.patience = patience;
    this.progress = progress;
    daemons = new WanDaemons(folder, reflected, 0, cleanup);
    queries = new WanQueries(daemons.configs);
    daemons.start();
    traffic = cleanup.add(WanTraffic.startEven(daemons.nodes.name(WanNodes.H1)));
  }

  /**
   * Runs the soak.
   *
   * @param folder empty folder, in which logs, configurations and the audit are kept
   * @param progress receives the name of each step
   * @param cleanup ends the soak's processes and removes its namespaces when it is closed
   * @throws HeddleException if this host lacks a prerequisite
   */
  public static WanSoakReport run(
      Path folder,
      Setting setting,
      WanDemo.TimeLimits patience,
      Consumer<String> progress,
      Cleanup cleanup)
      throws IOException, InterruptedException {
    progress.accept("namespaces and daemons");
    return new WanSoak(folder, setting, patience, progress, cleanup).run();
  }

  private WanSoakReport run() throws IOException, InterruptedException {
    long begin = System.nanoTime();
    boolean ready = await("gateways and controller are ready", this::isReady);
    ready = ready && await("packets arrive", this::packetsArrive);
    if (ready) {
      Random random = new Random(setting.seed());
      sentBefore = traffic.stop();
      arrivedBefore = arrived();
      while (!isOver(begin)) {
        phase(WanSoakPlan.next(random, reflected));
      }
      end();
    }
    WanDecisions decisions = new WanDecisions(folder.resolve("audit.jsonl"));
    int flaps = flaps(decisions);
    return new WanSoakReport(
        setting.seed(),
        failures.isEmpty(),
        (System.nanoTime() - begin) / 1e9,
        phases,
        faults,
        traffic.stop(),
        lost,
        lostInCuts,
        decisions.moves(),
        decisions.withdrawals(),
        flaps,
        List.copyOf(failures));
  }

  private boolean isOver(long begin) {
    return setting.phases() > 0
        ? phases >= setting.phases()
        : System.nanoTime() - begin > TimeUnit.MINUTES.toNanos(setting.minutes());
  }

  private boolean isReady() {
    return WanMeasures.isReady(queries.overview());
  }

  /*
   * Returns whether all packets of a short test arrive. A first batch resolves neighbours and may
   * be lost.
   */
  private boolean packetsArrive() {
    try {
      traffic.send(Map.of(2, 1e6, 3, 1e6, 4, 1e6, 5, 1e6, 6, 1e6, 7, 1e6, 8, 1e6, 9, 1e6));
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
      long sent = traffic.stop();
      long before = arrived();
      traffic.send(Map.of(2, 1e6, 3, 1e6, 4, 1e6, 5, 1e6, 6, 1e6, 7, 1e6, 8, 1e6, 9, 1e6));
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
      long more = traffic.stop() - sent;
      return more > 0 && arrivedStably() - before == more;
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
      throw new HeddleException("the soak was interrupted", ended);
    }
  }

  private void phase(WanSoakPlan plan) throws InterruptedException {
    phases++;
    WanSoakPlan.Fault fault = plan.fault();
    faults.merge(fault.text(), 1, Integer::sum);
    progress.accept(
        "phase %s: %s queue pairs, %s".formatted(phases, plan.load().size(), fault.text()));
    Instant begin = Instant.now();
    long beginNs = System.nanoTime();
    traffic.send(plan.load());
    TimeUnit.SECONDS.sleep(setting.phaseSeconds() / 2);
    if (fault != WanSoakPlan.Fault.NONE) {
      addCalmPeriod(begin);
      inject(fault);
      TimeUnit.MILLISECONDS.sleep(plan.healMs());
      heal(fault);
      await("all are ready again after " + fault.text(), this::isReady);
      begin = Instant.now();
      TimeUnit.SECONDS.sleep(setting.phaseSeconds() / 2);
    }
    long leftNs = TimeUnit.SECONDS.toNanos(setting.phaseSeconds()) - (System.nanoTime() - beginNs);
    TimeUnit.NANOSECONDS.sleep(leftNs);
    addCalmPeriod(begin);
    traffic.check();
    countLostPackets(fault);
    await("each rule has its reason", () -> queries.audit().faults() == 0);
  }

  private void addCalmPeriod(Instant begin) {
    calmPeriods.add(new CalmPeriod(phases, begin.plusSeconds(SETTLED_SECONDS), Instant.now()));
  }

  private void inject(WanSoakPlan.Fault fault) {
    switch (fault) {
      case NONE -> {}
      case CONTROLLER_KILLED -> daemons.processes.kill(WanNodes.CONTROLLER);
      case GATEWAY_KILLED -> daemons.processes.kill(WanNodes.gateway(1));
      case REFLECTOR_KILLED -> daemons.processes.kill(WanDaemons.REFLECTOR);
      case PATH_CUT -> daemons.nodes.node(WanNodes.gateway(1)).ip("link set " + CUT_PATH + " down");
    }
  }

  private void heal(WanSoakPlan.Fault fault) {
    switch (fault) {
      case NONE -> {}
      case CONTROLLER_KILLED -> daemons.startController();
      case GATEWAY_KILLED -> daemons.startGateway(1);
      case REFLECTOR_KILLED -> daemons.startReflector();
      case PATH_CUT ->
          /* The kernel removed the interface's address when the link went down. */
          daemons
              .nodes
              .node(WanNodes.gateway(1))
              .ip(
                  "link set " + CUT_PATH + " up",
                  "addr replace " + CUT_ADDRESS + " dev " + CUT_PATH + " nodad");
    }
  }

  /* Counts the phase's lost packets. Stops the traffic and waits until no more packets arrive. */
  private void countLostPackets(WanSoakPlan.Fault fault) throws InterruptedException {
    long sent = traffic.stop();
    long missing = (sent - sentBefore) - (arrivedStably() - arrivedBefore);
    sentBefore = sent;
    arrivedBefore = arrived();
    if (fault == WanSoakPlan.Fault.PATH_CUT) {
      lostInCuts += missing;
    } else if (missing != 0) {
      lost += missing;
      failures.add("phase %s lost %s packets while %s".formatted(phases, missing, fault.text()));
    }
  }

  /* Waits until no more packets arrive and returns the number of packets that have arrived. */
  private long arrivedStably() throws InterruptedException {
    long before = -1;
    long now = arrived();
    while (now != before) {
      TimeUnit.MILLISECONDS.sleep(2 * POLL_MS);
      before = now;
      now = arrived();
    }
    return now;
  }

  /*
   * Returns the number of datagrams that the far host's kernel has received, including those it
   * dropped.
   */
  private long arrived() {
    return NetworkNamespace.call(
        daemons.nodes.name(WanNodes.H2),
        () ->
            Files.readAllLines(Path.of("/proc/thread-self/net/snmp6")).stream()
                .filter(line -> line.matches("Udp6(InDatagrams|NoPorts|InErrors)\\s.*"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("^\\S+\\s+", "")))
                .sum());
  }

  private void end() throws InterruptedException {
    traffic.stop();
    await(
        "after the load no rule is left",
        () -> queries.rules().isEmpty() && queries.overview().rules().isEmpty());
    daemons.processes.check();
  }

  private int flaps(WanDecisions decisions) {
    int flaps = 0;
    for (CalmPeriod each : calmPeriods) {
      for (String flow : decisions.flaps(each.from(), each.to())) {
        flaps++;
        failures.add("in phase %s a flow flapped: %s".formatted(each.phase(), flow));
      }
    }
    return flaps;
  }

  /*
   * Waits for a condition and returns whether it became true in time. Records a failure if it
   * didn't.
   */
  private boolean await(String what, BooleanSupplier condition) throws InterruptedException {
    BooleanSupplier over = patience.limits().apply(WAIT_SECONDS);
    String trouble = "timed out";
    while (!over.getAsBoolean()) {
      try {
        if (condition.getAsBoolean()) {
          return true;
        }
      } catch (HeddleException notYet) {
        trouble = String.valueOf(notYet.getMessage());
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
    }
    failures.add("phase %s: %s: %s".formatted(phases, what, trouble));
    return false;
  }
}
