package io.heddle.cli.doctor;

import io.heddle.addr.AddressText;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.Json;
import io.heddle.cli.operate.ConfiguredPeer;
import io.heddle.cli.operate.ControlOption;
import io.heddle.cli.stat.StatsOption;
import io.heddle.routes.RoutesPath;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command {@code heddle doctor}: checks this host before a job. */
@Command(
    name = "doctor",
    description =
        "Checks this host before a job: Java, the plugin that NCCL loads, kernel, addresses,"
            + " planes, devices, limits, routes, settings, running jobs. Changes nothing.",
    mixinStandardHelpOptions = true,
    footer =
        "%nRun it as the job will run: same user, same environment, same limits."
            + " docs/doctor.md lists every cause.",
    exitCodeList = {"0:No warning, no fault.", "1:Warnings.", "2:Faults, or a wrong command line."})
public final class DoctorCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(names = "--json", description = "Print one JSON document.")
  private boolean json;

  @Option(names = "--all", description = "Show findings without a problem, too.")
  private boolean all;

  @Option(
      names = "--plugin",
      paramLabel = "FILE",
      description = "The plugin (default: the one beside this command).")
  private @Nullable Path plugin;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "The route daemon's configuration, whose planes this host should have"
              + " (default: /etc/heddle/bgp.conf, if it exists).")
  private @Nullable Path config;

  @CommandLine.Mixin private final ControlOption control = new ControlOption();
  @CommandLine.Mixin private final StatsOption stats = new StatsOption();

  @Option(
      names = "--peer",
      paramLabel = "ADDRESS",
      split = ",",
      description =
          "Also probe each plane to the host with this address, which must run heddle doctor"
              + " --answer. Several of its addresses may be given: each is tried until one"
              + " answers.")
  private List<String> peer = List.of();

  @Option(
      names = "--paths",
      paramLabel = "FILE",
      split = ",",
      description =
          "Also check whether the queue pairs of running soft devices to a peer take different"
              + " links, from a file that heddle paths measure --save wrote.")
  private List<Path> measured = List.of();

  @Option(
      names = "--answer",
      description =
          "Instead answer probes of other hosts on UDP ports 4791 and 4854 of each plane, until"
              + " ^C.")
  private boolean answer;

  /** Severity of a finding. */
  enum Level {
    OK,
    UNKNOWN,
    WARNING,
    FAULT
  }

  /**
   * One finding, as --json shows it.
   *
   * @param check name of the check in docs/doctor.md
   * @param level severity of the finding
   * @param cause name of the cause, for scripts; null without a problem
   * @param evidence observation, as a sentence
   * @param remedy the action to take; null without a problem
   */
  record Entry(
      String check, Level level, @Nullable String cause, String evidence, @Nullable String remedy) {
    static Entry of(Check check, Finding finding) {
      return switch (finding) {
        case Finding.Ok ok -> new Entry(check.name(), Level.OK, null, ok.evidence(), null);
        case Finding.Unknown unknown ->
            new Entry(check.name(), Level.UNKNOWN, null, unknown.evidence(), null);
        case Finding.Warning warning ->
            new Entry(
                check.name(),
                Level.WARNING,
                warning.cause().id(),
                warning.evidence(),
                warning.remedy());
        case Finding.Fault fault ->
            new Entry(
                check.name(), Level.FAULT, fault.cause().id(), fault.evidence(), fault.remedy());
      };
    }
  }

  /**
   * The whole document.
   *
   * @param level the worst severity of all findings
   */
  record Document(Level level, List<Entry> findings) {
    static Document of(List<Entry> findings) {
      Level worst = Level.OK;
      for (Entry entry : findings) {
        boolean counts = entry.level == Level.WARNING || entry.level == Level.FAULT;
        worst = counts && entry.level.compareTo(worst) > 0 ? entry.level : worst;
      }
      return new Document(worst, findings);
    }

    int exitCode() {
      return level == Level.FAULT ? 2 : level == Level.WARNING ? 1 : 0;
    }
  }

  /*
   * Returns the environment that jobs have. start.sh removes some variables for this command's JVM,
   * and passes only their names in a property. Their value here is "set".
   */
  private static Map<String, String> environmentOfJobs() {
    Map<String, String> environment = new HashMap<>(System.getenv());
    for (String name : System.getProperty("heddle.options.of.others", "").split(",")) {
      if (!name.isEmpty()) {
        environment.putIfAbsent(name, "set");
      }
    }
    return environment;
  }

  @Override
  public Integer call() throws InterruptedException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    List<InetAddress> others = new ArrayList<>();
    for (String each : peer) {
      InetAddress address = AddressText.parse(each);
      if (address == null) {
        throw new CommandLine.ParameterException(
            Objects.requireNonNull(spec).commandLine(), "--peer " + each + " is no IP address");
      }
      others.add(address);
    }
    NcclFiles files = NcclFiles.read(environmentOfJobs());
    Host host =
        Host.read(
            files.environment(),
            new Host.Places(
                plugin == null ? Installation.part(Installation.PLUGIN) : plugin,
                RoutesPath.of(files.environment().get("HEDDLE_ROUTES")),
                control.socket(),
                daemonConfig(),
                stats.folder()));
    if (answer) {
      new ProbeResponder(host.planes().planes()).run(out);
      return 0;
    }
    Document document = Document.of(examine(host, Checks.all(others, measured, files)));
    if (json) {
      out.println(Json.of(document));
    } else {
      print(document, out);
    }
    out.flush();
    return document.exitCode();
  }

  private @Nullable Path daemonConfig() {
    return config != null || !Files.exists(ConfiguredPeer.DEFAULT_FILE)
        ? config
        : ConfiguredPeer.DEFAULT_FILE;
  }

  static List<Entry> examine(Host host, List<Check> checks) {
    List<Entry> entries = new ArrayList<>();
    for (Check check : checks) {
      check.run(host).forEach(finding -> entries.add(Entry.of(check, finding)));
    }
    return entries;
  }

  private void print(Document document, PrintWriter out) {
    String check = "";
    int hidden = 0;
    for (Entry entry : document.findings) {
      boolean quiet = !all && entry.level == Level.OK;
      hidden += quiet ? 1 : 0;
      if (!quiet) {
        if (!entry.check.equals(check)) {
          out.println(entry.check);
          check = entry.check;
        }
        print(entry, out);
      }
    }
    long warnings = count(document, Level.WARNING);
    long faults = count(document, Level.FAULT);
    out.printf(
        "%s%s %s, %s %s, %s ok%s%n",
        hidden == document.findings.size() ? "" : "\n",
        faults,
        faults == 1 ? "fault" : "faults",
        warnings,
        warnings == 1 ? "warning" : "warnings",
        count(document, Level.OK),
        hidden > 0 ? " (--all shows them)" : "");
  }

  private static long count(Document document, Level level) {
    return document.findings.stream().filter(entry -> entry.level == level).count();
  }

  private static void print(Entry entry, PrintWriter out) {
    String mark =
        switch (entry.level) {
          case OK -> "ok     ";
          case UNKNOWN -> "unknown";
          case WARNING -> "WARNING";
          case FAULT -> "FAULT  ";
        };
    out.printf("  %s  %s%s%n", mark, entry.cause == null ? "" : entry.cause + ": ", entry.evidence);
    if (entry.remedy != null) {
      out.printf("           remedy: %s%n", entry.remedy);
    }
  }
}
