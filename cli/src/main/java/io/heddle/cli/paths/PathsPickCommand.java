package io.heddle.cli.paths;

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
import picocli.CommandLine.Parameters;

/** Command that selects source ports whose flows spread evenly, and prints them as a setting. */
@Command(
    name = "pick",
    description = {
      "Selects source ports whose flows spread evenly: the links of a switch differ by at most one"
          + " flow. Prints them as a setting of the soft device.",
      "If the hash is linear, all ports from 49152 on are available, else only the measured ones. A"
          + " linear hash spreads the same ports evenly to other peers too."
    },
    mixinStandardHelpOptions = true)
public final class PathsPickCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Parameters(index = "0", paramLabel = "N", description = "Number of ports, 1 to 1024.")
  private int count;

  @Parameters(
      index = "1",
      paramLabel = "FILE",
      description = "A measurement, saved by heddle paths measure --save.")
  private Path file = Path.of("");

  @CommandLine.Option(
      names = "--json",
      description = "Print one JSON document instead of the lines.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    new OptionRange(spec).require("N", count, 1, 1024);
    PathsPick pick = PathsPick.of(PathsMeasurement.read(file), count);
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.print(json ? Json.of(pick) + "\n" : pick.text());
    out.flush();
    return 0;
  }
}
