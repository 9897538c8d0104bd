package io.heddle.cli.bridge;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.status.BridgeStatus;
import io.heddle.cli.kit.Json;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The {@code bridge show} command: the status of a bridge. */
@Command(
    name = "show",
    description =
        "Shows each group of a bridge: its rate and lateness in both directions, and its dropped"
            + " packets by reason.",
    mixinStandardHelpOptions = true)
public final class BridgeShowCommand implements Callable<Integer> {
  @Option(
      names = "--status",
      paramLabel = "FILE",
      description = "The bridge's status file (/run/heddle-bridge/bridge.status).")
  private Path status = BridgeConfig.STATUS;

  @Option(names = "--json", description = "Print one JSON document instead of the table.")
  private boolean json;

  @Option(
      names = "--metrics",
      description = "Print Prometheus' text format instead, for a collector that reads files.")
  private boolean metrics;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Override
  public Integer call() {
    BridgeStatus now = BridgeStatus.read(status);
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.print(text(now));
    out.flush();
    return 0;
  }

  private String text(BridgeStatus now) {
    if (metrics) {
      return BridgeMetrics.of(now);
    }
    return json ? Json.of(now) + System.lineSeparator() : BridgeTable.of(now);
  }
}
