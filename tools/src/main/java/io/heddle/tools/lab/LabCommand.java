package io.heddle.tools.lab;

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

/** Commands for a fabric of real routers on this machine. */
@Command(
    name = "lab",
    description =
        "Creates, shows, breaks and removes a fabric of real routers in network namespaces. Needs"
            + " root.",
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
      description = "Shows planes with the kernel's counters of their links, routers, and hosts.",
      exitCodeList = {
        "0:All routers run, and every plane has its own path.",
        "1:A router or a path is missing."
      },
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
                  "Location: a leaf or a spine; with separate planes, a host; or all. Default: l1,"
                      + " or h1.")
          @Nullable String at,
      @Option(
              names = "--silent",
              description = "Drop all packets in both directions and leave the carrier on.")
          boolean silent,
      @CommandLine.Mixin LabNameOption lab) {
    Fabric fabric = lab.open();
    List<String> links = fabric.cut(plane, at == null ? fabric.defaultCutLocation() : at, silent);
    print("cut " + (silent ? "silently" : "the carrier of") + " " + String.join(", ", links));
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
              description = "The plane, from 1 (all planes).")
          int plane,
      @CommandLine.Mixin LabNameOption lab) {
    lab.open().restore(plane);
    print("restored " + (plane == 0 ? "all planes" : "plane " + plane));
    return 0;
  }

  @Command(
      name = "rate",
      description =
          "Sets the rate of a plane's links, and the path bandwidth of its announcements.",
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
    print("plane " + plane + " has " + gbps + " Gbit/s and announces " + announced + " Gbit/s");
    return 0;
  }

  @Command(
      name = "unreachable",
      description =
          "Announces a host with path bandwidth 0 on a separate plane, or withdraws that with"
              + " --undo.",
      mixinStandardHelpOptions = true)
  int unreachable(
      @Parameters(index = "0", paramLabel = "PLANE", description = "The plane, from 1.") int plane,
      @Parameters(index = "1", paramLabel = "HOST", description = "The host, from 1.") int host,
      @Option(names = "--undo", description = "Withdraw the announcement.") boolean undo,
      @CommandLine.Mixin LabNameOption lab) {
    lab.open().setReachable(plane, host, undo);
    print("plane " + plane + " announces h" + host + (undo ? " as reachable" : " as unreachable"));
    return 0;
  }

  @Command(
      name = "down",
      description =
          "Ends the daemons and removes namespaces and files, including those left by a killed"
              + " command.",
      mixinStandardHelpOptions = true)
  int down(@CommandLine.Mixin LabNameOption lab) {
    List<String> others = Fabric.down(lab.name());
    print("lab '" + lab.name() + "' is removed");
    others.forEach(other -> print("still running in a removed namespace: " + other));
    return 0;
  }

  private void print(String text) {
    out().println(text);
    out().flush();
  }

  public static ParameterException usage(CommandLine line, String sentence) {
    return new ParameterException(line, sentence);
  }
}
