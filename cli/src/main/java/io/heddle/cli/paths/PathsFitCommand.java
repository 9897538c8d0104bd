package io.heddle.cli.paths;

import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.OptionRange;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Command that tests whether a measured hash is linear, so that every port's path is known. */
@Command(
    name = "fit",
    description = {
      "Tests whether the fabric's hash is linear in the source port, as XOR and CRC hashes are:"
          + " then flipping a bit of the port changes the path in the same manner for all ports.",
      "Fits to a base port, its 16 neighbours with one flipped bit, and others; validates with 32"
          + " held-out ports, and rejects the fit below 95 %%."
    },
    exitCodeList = {
      "0:The hash is linear: the path of every port is known.",
      "1:The hash isn't linear, or the measurement has too few ports."
    },
    mixinStandardHelpOptions = true)
public final class PathsFitCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Parameters(
      paramLabel = "FILE",
      description = "A measurement, saved by heddle paths measure --save.")
  private Path file = Path.of("");

  @Option(
      names = "--hop",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "Distinguish paths only up to this hop; ${DEFAULT-VALUE} for the last at which they"
              + " diverge.")
  private int hop;

  @Option(names = "--json", description = "Print one JSON document instead of the tables.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    new OptionRange(spec).require("--hop", hop, 0, 255);
    PathsFit fit = PathsFit.of(PathsMeasurement.read(file), hop);
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.print(json ? Json.of(fit) + "\n" : fit.text());
    out.flush();
    return fit.linear() ? 0 : ExitCode.FAILED;
  }
}
