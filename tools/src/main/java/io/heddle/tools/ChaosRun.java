package io.heddle.tools;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.HeddleException;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.PlaneFaults;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * One plan carried out: a lab of its own, two ranks of the chaos driver, the plan's faults at their
 * times, and a verdict from what the ranks say.
 */
final class ChaosRun implements AutoCloseable {
  private static final int RANKS = 2;
  private static final int HANG_SECONDS = 20;
  private static final long LIMIT_SECONDS = 60;
  private static final int EXIT_WRONG = 1;
  private static final int EXIT_PLUGIN = 3;
  private static final int EXIT_TIMED_OUT = 4;

  /** Programs that run on the hosts. */
  record Programs(Path plugin, Path driver) {}

  private record Step(long atMs, Runnable action) {}

  private final ChaosPlan plan;
  private final Path folder;
  private final Lab lab;
  private final PlaneFaults faults;
  private final Programs programs;
  private final List<RankProcess> ranks = new ArrayList<>();
  private final BlockingQueue<JsonNode> reports = new LinkedBlockingQueue<>();
  private final List<JsonNode> last = new ArrayList<>();

  ChaosRun(ChaosPlan plan, Lab.Kind kind, Programs programs, Path folder) throws IOException {
    this.plan = plan;
    this.programs = programs;
    this.folder = folder;
    Files.createDirectories(folder);
    this.lab = Labs.create(kind, new LabPlan(RANKS, plan.planes(), plan.mtuBytes()));
    this.faults = new PlaneFaults(lab);
  }

  ChaosVerdict run() throws IOException, InterruptedException {
    for (int rank = 0; rank < RANKS; rank++) {
      start(rank);
    }
    long limitNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    if (awaitStarts(limitNs)) {
      carryOut(steps(), limitNs);
    }
    while (anyAlive() && System.nanoTime() - limitNs < 0) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
    if (anyAlive()) {
      return verdict(ChaosVerdict.Kind.HUNG, "still running after " + LIMIT_SECONDS + " s");
    }
    return judge();
  }

  private void start(int rank) throws IOException {
    Map<String, String> environment = new LinkedHashMap<>(lab.environment(rank));
    environment.put("HEDDLE_POLICY", plan.policy());
    environment.put("HEDDLE_STATS_DIR", folder.toString());
    if (!plan.softFaults().isEmpty()) {
      environment.put("HEDDLE_SOFT_FAULTS", plan.softFaults());
    }
    List<String> command =
        List.of(
            programs.driver().toString(),
            "--plugin",
            programs.plugin().toString(),
            "--rendezvous",
            folder.toString(),
            "--rank",
            Integer.toString(rank),
            "--seed",
            Long.toString(plan.seed() & Long.MAX_VALUE),
            "--seconds",
            Integer.toString(plan.seconds()),
            "--max-bytes",
            Integer.toString(plan.maxBytes()),
            "--timeout-seconds",
            Integer.toString(HANG_SECONDS));
    ranks.add(
        RankProcess.start(
            rank,
            lab.command(rank, command),
            environment,
            log(rank),
            line -> reports.add(read(line))));
  }

  private Path log(int rank) {
    return folder.resolve("rank-" + rank + ".log");
  }

  private static JsonNode read(String line) {
    try {
      return Json.mapper().readTree(line);
    } catch (JsonProcessingException notJson) {
      return Json.mapper().createObjectNode().put("event", "unknown").put("line", line);
    }
  }

  /* Whether both ranks are connected; they may also fail before. */
  private boolean awaitStarts(long limitNs) throws InterruptedException {
    int started = 0;
    while (started < RANKS && System.nanoTime() - limitNs < 0) {
      JsonNode report = reports.poll(20, TimeUnit.MILLISECONDS);
      if (report == null && ranks.stream().anyMatch(rank -> !rank.isAlive())) {
        return false;
      }
      if (report != null && report.path("event").asText().equals("start")) {
        started++;
      } else if (report != null) {
        last.add(report);
        return false;
      }
    }
    return started == RANKS;
  }

  private List<Step> steps() {
    List<Step> steps = new ArrayList<>();
    for (ChaosPlan.Event event : plan.events()) {
      steps.add(new Step(event.atMs(), () -> begin(event)));
      steps.add(new Step((long) event.atMs() + event.forMs(), () -> undo(event)));
    }
    steps.sort(Comparator.comparingLong(Step::atMs));
    return steps;
  }

  private void carryOut(List<Step> steps, long limitNs) throws InterruptedException {
    long startNs = System.nanoTime();
    for (Step step : steps) {
      long dueNs = startNs + TimeUnit.MILLISECONDS.toNanos(step.atMs());
      while (anyAlive() && System.nanoTime() - dueNs < 0 && System.nanoTime() - limitNs < 0) {
        TimeUnit.MILLISECONDS.sleep(1);
      }
      if (!anyAlive()) {
        return;
      }
      step.action().run();
    }
  }

  private void begin(ChaosPlan.Event event) {
    switch (event.fault()) {
      case CARRIER_CUT -> faults.cutCarrier(event.rank(), event.plane());
      case SILENT_CUT -> faults.cutSilently(event.rank(), event.plane());
      case ADDRESS_REMOVED -> faults.removeAddress(event.rank(), event.plane());
      case LOSS -> faults.lose(event.rank(), event.plane(), event.amount());
      case STOPPED_PEER -> signal(event.rank(), "STOP");
    }
  }

  private void undo(ChaosPlan.Event event) {
    switch (event.fault()) {
      case STOPPED_PEER -> signal(event.rank(), "CONT");
      case CARRIER_CUT, SILENT_CUT, ADDRESS_REMOVED, LOSS ->
          faults.restore(event.rank(), event.plane());
    }
  }

  /* A rank that has ended meanwhile needs no signal. */
  private void signal(int rank, String name) {
    if (!ranks.get(rank).isAlive()) {
      return;
    }
    try {
      new ProcessBuilder("kill", "-" + name, Long.toString(ranks.get(rank).pid()))
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException failed) {
      throw new HeddleException("kill can't be started: " + failed.getMessage(), failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean anyAlive() {
    return ranks.stream().anyMatch(RankProcess::isAlive);
  }

  private ChaosVerdict judge() throws InterruptedException, IOException {
    List<Integer> codes = new ArrayList<>();
    for (RankProcess rank : ranks) {
      codes.add(rank.exitCode());
    }
    reports.drainTo(last);
    if (codes.contains(EXIT_WRONG) || sum("wrong_bytes", "guard_bytes", "canary_bytes") > 0) {
      return verdict(ChaosVerdict.Kind.WRONG, "wrong bytes" + stories());
    }
    if (codes.contains(EXIT_TIMED_OUT)) {
      return verdict(
          ChaosVerdict.Kind.HUNG, "nothing moved for " + HANG_SECONDS + " s" + stories());
    }
    if (codes.stream().allMatch(code -> code == 0)) {
      return logs().contains("left open at the end")
          ? verdict(ChaosVerdict.Kind.LEAKED, "objects were left open" + stories())
          : verdict(ChaosVerdict.Kind.PASSED, null);
    }
    boolean erred =
        plan.cutsPlanes() && codes.stream().allMatch(code -> code == EXIT_PLUGIN || code == 0);
    return verdict(
        erred ? ChaosVerdict.Kind.ERRED : ChaosVerdict.Kind.FAILED,
        "exit codes " + codes + stories());
  }

  private String logs() throws IOException {
    StringBuilder all = new StringBuilder();
    for (int rank = 0; rank < RANKS; rank++) {
      all.append(Files.readString(log(rank), java.nio.charset.StandardCharsets.ISO_8859_1));
    }
    return all.toString();
  }

  private String stories() {
    StringBuilder text = new StringBuilder();
    for (RankProcess rank : ranks) {
      text.append("\n  rank ").append(rank.rank()).append(':');
      for (String line : rank.lastLines()) {
        if (line.contains("WARN") || line.contains("WRONG") || !line.contains("NCCL")) {
          text.append("\n    ").append(line);
        }
      }
    }
    return text.toString();
  }

  private long sum(String... names) {
    long sum = 0;
    for (JsonNode report : last) {
      for (String name : names) {
        sum += report.path(name).asLong();
      }
    }
    return sum;
  }

  private ChaosVerdict verdict(
      ChaosVerdict.Kind kind, @org.jspecify.annotations.Nullable String story) {
    double gap = 0;
    for (JsonNode report : last) {
      gap = Math.max(gap, report.path("longest_gap_ms").asDouble());
    }
    return new ChaosVerdict(
        kind,
        story,
        sum("received"),
        sum("bytes"),
        sum("wrong_bytes", "guard_bytes", "canary_bytes"),
        gap);
  }

  /** Ends what still runs, stopped ones too, and takes the lab down. */
  @Override
  public void close() {
    ranks.forEach(RankProcess::close);
    lab.close();
  }
}
