package io.heddle.cli.lab;

import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Json;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** A fabric of real routers on this machine. */
@Command(
    name = "lab",
    description =
        "A fabric of real routers in network namespaces: makes it, looks at it, breaks it, takes it"
            + " down. Needs root.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {LabUpCommand.class, LabCheckCommand.class, SwitchesCommand.class})
public final class LabCommand {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  private CommandLine commandLine() {
    return Objects.requireNonNull(spec).commandLine();
  }

  private PrintWriter out() {
    return commandLine().getOut();
  }

  @Command(
      name = "status",
      description = "Planes with what the kernel counted on their links, routers, hosts.",
      exitCodeList = {"0:Every router runs, and every plane has its own path.", "1:Not so."},
      mixinStandardHelpOptions = true)
  int status(
      @CommandLine.Mixin LabNameOption lab,
      @Option(names = "--json", description = "Print one JSON document instead of tables.")
          boolean json) {
    FabricStatus status = lab.open().status();
    out().print(json ? Json.of(status) + "\n" : LabReport.of(status));
    out().flush();
    return status.healthy() ? 0 : ExitCode.FAILED;
  }

  @Command(
      name = "cut",
      description = "Cuts a plane's link: its carrier, or silently.",
      mixinStandardHelpOptions = true)
  int cut(
      @Parameters(paramLabel = "PLANE", description = "The plane, from 1.") int plane,
      @Option(
              names = "--at",
              paramLabel = "NODE",
              description =
                  "Where: a leaf or a spine; a host where planes are separate; all. Unless said,"
                      + " l1, or h1.")
          @Nullable String at,
      @Option(
              names = "--silent",
              description = "Drop every packet in both directions and leave the carrier on.")
          boolean silent,
      @CommandLine.Mixin LabNameOption lab) {
    Fabric fabric = lab.open();
    List<String> links = fabric.cut(plane, at == null ? fabric.usualPlaceOfCuts() : at, silent);
    say("cut " + (silent ? "silently" : "the carrier of") + " " + String.join(", ", links));
    return 0;
  }

  @Command(
      name = "restore",
      description = "Undoes every cut, or those of one plane.",
      mixinStandardHelpOptions = true)
  int restore(
      @Parameters(
              arity = "0..1",
              paramLabel = "PLANE",
              defaultValue = "0",
              description = "The plane, from 1; all planes unless said.")
          int plane,
      @CommandLine.Mixin LabNameOption lab) {
    lab.open().restore(plane);
    say("restored " + (plane == 0 ? "all planes" : "plane " + plane));
    return 0;
  }

  @Command(
      name = "rate",
      description = "Gives a plane's links another rate, and its announcements that bandwidth.",
      mixinStandardHelpOptions = true)
  int rate(
      @Parameters(index = "0", paramLabel = "PLANE", description = "The plane, from 1.") int plane,
      @Parameters(index = "1", paramLabel = "GBPS", description = "Its new rate, Gbit/s.")
          double gbps,
      @Option(
              names = "--bandwidth",
              paramLabel = "GBPS",
              description = "Path bandwidth to announce, whole Gbit/s (100 times the rate).")
          @Nullable Integer bandwidth,
      @CommandLine.Mixin LabNameOption lab) {
    int announced = bandwidth == null ? LabUpCommand.announced(gbps) : bandwidth;
    lab.open().setRate(plane, LabUpCommand.bitsPerSecond(gbps), announced);
    say("plane " + plane + " has " + gbps + " Gbit/s and announces " + announced + " Gbit/s");
    return 0;
  }

  @Command(
      name = "unreachable",
      description =
          "Has a plane of its own announce a host with path bandwidth 0, or end that with --undo.",
      mixinStandardHelpOptions = true)
  int unreachable(
      @Parameters(index = "0", paramLabel = "PLANE", description = "The plane, from 1.") int plane,
      @Parameters(index = "1", paramLabel = "HOST", description = "The host, from 1.") int host,
      @Option(names = "--undo", description = "Withdraw the announcement.") boolean undo,
      @CommandLine.Mixin LabNameOption lab) {
    lab.open().setReachable(plane, host, undo);
    say("plane " + plane + " announces h" + host + (undo ? " no more" : " as unreachable"));
    return 0;
  }

  @Command(
      name = "down",
      description =
          "Ends the daemons, removes namespaces and files; also what a killed command has left.",
      mixinStandardHelpOptions = true)
  int down(@CommandLine.Mixin LabNameOption lab) {
    List<String> others = Fabric.down(lab.name());
    say("lab '" + lab.name() + "' is gone");
    others.forEach(other -> say("still running in a namespace that has lost its name: " + other));
    return 0;
  }

  private void say(String text) {
    out().println(text);
    out().flush();
  }

  public static ParameterException usage(CommandLine line, String sentence) {
    return new ParameterException(line, sentence);
  }
}
