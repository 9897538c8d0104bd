package io.heddle.tools.bridge;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.cli.bridge.FabricHost;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.OwnCommandLine;
import io.heddle.platform.HeddleException;
import io.heddle.platform.ThreadAffinity;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.BitSet;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The {@code bridge latency} command, which measures the latency that a bridge adds. */
@Command(
    name = "latency",
    description = {
      "Measures the time that a bridge adds to each packet, idle and at half load, beside a"
          + " forwarder in C and the kernel's multicast routing. They run alternately, in"
          + " network namespaces.",
      "One bridge sleeps when idle, which is the default; another spins on a processor."
    },
    mixinStandardHelpOptions = true)
public final class BridgeLatencyCommand implements Callable<Integer> {
  private static final int MOST_ROUNDS = 1000;
  private static final int MOST_PACKETS = 20_000;
  private static final int MOST_RATE = 10_000;
  private static final int MOST_BYTES = 1400;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "7",
      description = "Rounds of each (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--packets",
      paramLabel = "N",
      defaultValue = "1000",
      description = "Packets of an idle round (${DEFAULT-VALUE}).")
  private int packets;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "2000",
      description = "Packets per second of an idle round (${DEFAULT-VALUE}).")
  private int rate;

  @Option(
      names = "--loaded-packets",
      paramLabel = "N",
      defaultValue = "10000",
      description = "Packets of a round at half load (${DEFAULT-VALUE}).")
  private int loadedPackets;

  @Option(
      names = "--bytes",
      paramLabel = "N",
      defaultValue = "320",
      description = "Bytes of each payload (${DEFAULT-VALUE}).")
  private int bytes;

  @Option(
      names = "--core",
      paramLabel = "N",
      description = "The processor that a bridge spins on (the last one, where there are two).")
  private @Nullable Integer core;

  @Option(names = "--json", description = "Print one JSON document instead of the table.")
  private boolean json;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    OptionRange range = new OptionRange(spec);
    range.require("--rounds", rounds, 1, MOST_ROUNDS);
    range.require("--packets", packets, 10, MOST_PACKETS);
    range.require("--rate", rate, 1, MOST_RATE);
    range.require("--loaded-packets", loadedPackets, 10, MOST_PACKETS);
    range.require("--bytes", bytes, FabricHost.LEAST_PAYLOAD_BYTES, MOST_BYTES);
    Optional<String> refusal = Labs.refusal(Lab.Kind.NAMESPACES);
    if (refusal.isPresent()) {
      throw new HeddleException(
          "this needs network namespaces: " + refusal.get() + "; run it as root");
    }
    LatencyBench.Plan plan =
        new LatencyBench.Plan(rounds, packets, rate, loadedPackets, bytes, core());
    LatencyReport report =
        new LatencyBench(plan, OwnCommandLine.asStarted()).run(Lab.Kind.NAMESPACES);
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.print(json ? Json.of(report) + System.lineSeparator() : report.table());
    out.flush();
    return 0;
  }

  /*
   * Returns the processor that a bridge spins on; {@link BridgeConfig#NO_CORE} if this process may
   * run on one processor only, which the sender needs.
   */
  private int core() {
    BitSet allowed = ThreadAffinity.allowed();
    if (core == null) {
      return allowed.cardinality() < 2 ? BridgeConfig.NO_CORE : allowed.length() - 1;
    }
    if (core < 0 || !allowed.get(core)) {
      throw new HeddleException(
          "--core " + core + " is no processor that this may run on; there are " + allowed);
    }
    if (allowed.cardinality() < 2) {
      throw new HeddleException("--core needs another processor for the sender, and there is none");
    }
    return core;
  }
}
