package io.heddle.tools.simulate;

import io.heddle.cli.kit.AtomicFile;
import io.heddle.cli.kit.ByteSize;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.page.PageFile;
import io.heddle.sim.check.CheckRow;
import io.heddle.sim.check.HtsimCheck;
import io.heddle.sim.check.TableCheck;
import io.heddle.sim.chunks.ChunkOutcome;
import io.heddle.sim.chunks.ChunkSetting;
import io.heddle.sim.chunks.ChunkSimulation;
import io.heddle.sim.chunks.Switching;
import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.patterns.Traffic;
import io.heddle.spray.SprayPolicy;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Command that simulates rounds of a collective on a fabric, chunk by chunk, under the shipped
 * policies.
 */
@Command(
    name = "simulate",
    description =
        "Simulates rounds of a collective on a fabric with many planes. Each chunk passes the"
            + " plugin's own spray policy and the queues of its links. The same seed gives the same"
            + " output.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer =
        "%nNeeds neither root nor a network. docs/simulate.md describes the limits of the model.")
public final class SimulateCommand implements Callable<Integer> {
  private static final int MOST_SEEDS = 64;
  private static final int OUTSTANDING = 8;
  private static final int QUEUE_CHUNKS = 256;
  private static final int PACKET_BYTES = 4_096;
  private static final int LEAST_CHUNK = 256;
  private static final long TIMEOUT_NS = 1_000_000;
  private static final long MOST_SIZE = 1 << 30;

  /** Reference figures with which a check compares the simulation. */
  enum Against {
    TABLE,
    HTSIM,
    LAB;

    @Override
    public String toString() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  /** Level of detail of the simulation. */
  enum Level {
    CHUNKS,
    FLOWS;

    @Override
    public String toString() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @CommandLine.Mixin private final FabricOptions fabricOptions = new FabricOptions();
  @CommandLine.Mixin private final TrafficOptions trafficOptions = new TrafficOptions();

  @Option(
      names = "--policy",
      paramLabel = "POLICY",
      split = ",",
      defaultValue = "spray",
      description =
          "Policies to simulate, any of spray, pinned, least-in-flight, spraylink and hash"
              + " (${DEFAULT-VALUE}).")
  private List<String> policies = List.of();

  @CommandLine.Mixin private final BadPlanesOptions badPlanes = new BadPlanesOptions();

  @Option(
      names = "--switching",
      paramLabel = "HOW",
      defaultValue = "hash",
      description =
          "Selection of the spine by a leaf: hash, or spray for a new choice each chunk"
              + " (${DEFAULT-VALUE}).")
  private Switching switching = Switching.HASH;

  @Option(
      names = "--chunk",
      paramLabel = "SIZE",
      defaultValue = "60K",
      converter = ByteSize.class,
      description = "Preferred chunk size of policies (${DEFAULT-VALUE}).")
  private long chunkBytes;

  @Option(
      names = "--window",
      paramLabel = "SIZE",
      defaultValue = "16M",
      converter = ByteSize.class,
      description = "Bytes that a connection may have in flight (${DEFAULT-VALUE}).")
  private long windowBytes;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Seed of the random numbers (${DEFAULT-VALUE}).")
  private long seed;

  @Option(
      names = "--level",
      paramLabel = "LEVEL",
      defaultValue = "chunks",
      description =
          "Level of the simulation: chunks; or flows for long runs, at max-min fair rates with the"
              + " shares of chunks on a small fabric (${DEFAULT-VALUE}).")
  private Level level = Level.CHUNKS;

  @Option(
      names = "--check",
      paramLabel = "WHAT",
      description =
          "Compare the model with reference figures instead: table (six scenarios of eight planes),"
              + " htsim (128 nodes), or lab (a lab of real routers, measured now; needs root).")
  private @Nullable Against against;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      defaultValue = "4",
      description = "Number of runs of each figure of --check table (${DEFAULT-VALUE}).")
  private int seeds;

  @Option(
      names = "--lab-rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "Number of measurements of each figure of --check lab (${DEFAULT-VALUE}).")
  private int labRounds;

  @CommandLine.Mixin private final ControlPlaneOptions controlPlane = new ControlPlaneOptions();

  @Option(
      names = "--page",
      paramLabel = "FILE",
      description = "Also write one self-contained HTML page with plots.")
  private @Nullable Path page;

  @Option(names = "--json", description = "Print one JSON document instead of the tables.")
  private boolean json;

  @Override
  public Integer call() {
    OptionRange range = new OptionRange(spec);
    range.require("--seeds", seeds, 1, MOST_SEEDS);
    range.require("--lab-rounds", labRounds, 1, MOST_SEEDS);
    if (page != null && against != null) {
      throw range.refusal("--page can't be combined with --check");
    }
    if (page != null) {
      PageFile.requireFolder(page);
    }
    if (controlPlane.isRequested()) {
      return routes(range);
    }
    return against == null ? simulate(range) : check(against);
  }

  private int check(Against whose) {
    Estimate estimate = new Estimate();
    ProgressLine progress = ProgressLine.onStandardError();
    List<CheckRow> rows =
        switch (whose) {
          case HTSIM -> HtsimCheck.run(seed);
          case TABLE -> TableCheck.run(seeds, part -> estimate.update("checking", part));
          case LAB -> LabMeasurement.run(labRounds, seed, line -> progress.update(() -> line));
        };
    CheckReport report = CheckReport.of(whose.toString(), rows);
    estimate.end();
    progress.clear();
    print(report.table(), report);
    return report.passed() ? 0 : ExitCode.FAILED;
  }

  private int routes(OptionRange range) {
    if (against != null) {
      throw range.refusal("--control-plane can't be combined with --check");
    }
    ClosFabric fabric = fabricOptions.fabric(range);
    Estimate estimate = new Estimate();
    ControlPlaneReport report = controlPlane.run(fabric, fabricOptions.rateGbps(), range, estimate);
    estimate.end();
    print(report.table(), report);
    if (page != null) {
      AtomicFile.write(page, report.html(fabric.gpusPerLeaf()));
    }
    return report.passed() ? 0 : ExitCode.FAILED;
  }

  private int simulate(OptionRange range) {
    for (String each : policies) {
      if (!SprayPolicy.NAMES.contains(each)) {
        throw range.refusal(
            "--policy %s is not one of %s".formatted(each, String.join(", ", SprayPolicy.NAMES)));
      }
    }
    range.require("--chunk", chunkBytes, LEAST_CHUNK, MOST_SIZE);
    range.require("--window", windowBytes, chunkBytes, Long.MAX_VALUE);
    ClosFabric fabric = fabricOptions.fabric(range);
    badPlanes.require(fabric, range);
    Traffic traffic = trafficOptions.traffic(fabric.gpus(), seed, range);
    return level == Level.FLOWS ? flows(fabric, traffic, range) : chunks(fabric, traffic);
  }

  private int flows(ClosFabric fabric, Traffic traffic, OptionRange range) {
    if (badPlanes.hasBursts()) {
      throw range.refusal("--bursts are too short for --level flows; use --level chunks");
    }
    if (badPlanes.fault() != null && fabric.planes() == 1) {
      throw range.refusal("--fail needs more than one plane");
    }
    Estimate estimate = new Estimate();
    List<FlowReport.FlowRun> runs = new ArrayList<>();
    for (String policy : policies) {
      estimate.update(policy, (double) runs.size() / policies.size());
      runs.add(new FlowLevel(setting(fabric, traffic, policy), badPlanes).run());
    }
    estimate.end();
    FlowReport report =
        new FlowReport(
            FlowReport.LEVEL,
            fabric.gpus(),
            fabric.planes(),
            fabricOptions.rateGbps(),
            trafficOptions.pattern().toString(),
            trafficOptions.group(fabric.gpus()),
            switching.toString(),
            trafficOptions.roundBytes(),
            trafficOptions.rounds(),
            seed,
            badPlanes.text(),
            runs);
    print(report.table(), report);
    if (page != null) {
      AtomicFile.write(page, report.html());
    }
    return 0;
  }

  private int chunks(ClosFabric fabric, Traffic traffic) {
    Estimate estimate = new Estimate();
    List<ChunkOutcome> outcomes = new ArrayList<>();
    for (int i = 0; i < policies.size(); i++) {
      String policy = policies.get(i);
      int before = i;
      ChunkSimulation simulation =
          new ChunkSimulation(setting(fabric, traffic, policy), badPlanes.links(fabric, seed));
      outcomes.add(
          simulation.run(part -> estimate.update(policy, (before + part) / policies.size())));
    }
    estimate.end();
    SimulateReport report = report(fabric, traffic, outcomes);
    print(report.table(), report);
    if (page != null) {
      AtomicFile.write(page, SimulatePage.html(report, outcomes, senders(traffic)));
    }
    return 0;
  }

  private static int senders(Traffic traffic) {
    BitSet senders = new BitSet();
    for (int each : traffic.source()) {
      senders.set(each);
    }
    return senders.cardinality();
  }

  private ChunkSetting setting(ClosFabric fabric, Traffic traffic, String policy) {
    return new ChunkSetting(
        fabric,
        traffic,
        policy,
        badPlanes.weights(fabric, traffic),
        (int) chunkBytes,
        PACKET_BYTES,
        windowBytes,
        OUTSTANDING,
        QUEUE_CHUNKS,
        TIMEOUT_NS,
        switching,
        seed);
  }

  private SimulateReport report(ClosFabric fabric, Traffic traffic, List<ChunkOutcome> outcomes) {
    return new SimulateReport(
        "chunks",
        fabric.gpus(),
        fabric.planes(),
        fabricOptions.rateGbps(),
        trafficOptions.pattern().toString(),
        trafficOptions.group(fabric.gpus()),
        switching.toString(),
        trafficOptions.roundBytes(),
        trafficOptions.rounds(),
        (int) chunkBytes,
        seed,
        badPlanes.text(),
        outcomes.stream()
            .map(each -> SimulateReport.PolicyRun.of(each, senders(traffic)))
            .toList());
  }

  private void print(String table, Object report) {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.print(json ? Json.of(report) + System.lineSeparator() : table);
    out.flush();
  }
}
