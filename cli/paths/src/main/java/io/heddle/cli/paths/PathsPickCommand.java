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

/** Source ports that spread evenly, as a setting. */
@Command(
    name = "pick",
    description = {
      "Chooses source ports whose flows spread evenly: at each switch no link has more than one"
          + " flow more than another. Prints them as the setting that a soft device takes them"
          + " from.",
      "Where the hash is linear it chooses among all ports from 49152 on, else among measured ones."
          + " A linear hash spreads the same ports evenly to other peers too."
    },
    mixinStandardHelpOptions = true)
public final class PathsPickCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Parameters(index = "0", paramLabel = "N", description = "How many ports, 1 to 1024.")
  private int count;

  @Parameters(
      index = "1",
      paramLabel = "FILE",
      description = "A measurement: what heddle paths measure --save wrote.")
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
