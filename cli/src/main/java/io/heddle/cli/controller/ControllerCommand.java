package io.heddle.cli.controller;

import io.heddle.cli.kit.ConfigOption;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Json;
import io.heddle.controller.file.ControllerConfig;
import io.heddle.controller.file.SnapshotFile;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.network.NetworkConfig;
import io.heddle.controller.run.Controller;
import io.heddle.controller.run.ControllerStatus;
import io.heddle.controller.solver.ListForecast;
import io.heddle.controller.solver.Round;
import io.heddle.controller.solver.Solver;
import io.heddle.daemon.ControlSocket;
import io.heddle.daemon.DaemonFaults;
import io.heddle.daemon.DaemonStart;
import io.heddle.daemon.HangUps;
import io.heddle.platform.Log;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Commands {@code heddle controller}: the controller between data centres. */
@Command(
    name = "controller",
    description =
        "The controller: steers RoCEv2 queue pairs over SRv6 segment lists between data centres.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND")
public final class ControllerCommand {
  /** Option for the controller's configuration. */
  static final class ControllerConfigOption extends ConfigOption {
    ControllerConfigOption() {
      super(Path.of("/etc/heddle/controller.conf"));
    }
  }

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  private PrintWriter out() {
    return Objects.requireNonNull(spec).commandLine().getOut();
  }

  @Command(
      name = "check",
      description = "Checks a configuration.",
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {ConfigOption.VALID, ConfigOption.INVALID},
      mixinStandardHelpOptions = true)
  int check(@CommandLine.Mixin ControllerConfigOption option) {
    Path file = option.file();
    ControllerConfig config = ControllerConfig.read(file);
    out()
        .printf(
            Locale.ROOT,
            "%s is valid: strategy %s, lists are relieved from %.0f %% on%s%n",
            file,
            config.strategy().text(),
            100 * config.settings().high(),
            config.network() == null ? "; it names no gateway, so only plan can use it" : "");
    out().flush();
    return 0;
  }

  @Command(
      name = "plan",
      description = {
        "Dry run: the controller's decisions for a snapshot, with reasons.",
        "It treats the snapshot as a lasting state, and changes nothing."
      },
      mixinStandardHelpOptions = true)
  int plan(
      @Option(
              names = "--file",
              paramLabel = "FILE",
              required = true,
              description = "The snapshot, as JSON; docs/dci.md has its names.")
          Path file,
      @Option(
              names = "--config",
              paramLabel = "FILE",
              description = "The controller's configuration; its defaults without it.")
          @Nullable Path configFile,
      @Option(names = "--json", description = "Print one JSON document.") boolean json) {
    ControllerConfig config =
        configFile == null ? ControllerConfig.DEFAULT : ControllerConfig.read(configFile);
    SnapshotFile input = SnapshotFile.read(file);
    NetworkSnapshot snapshot = input.snapshot();
    Solver solver = new Solver(config.settings().atOnce(), config.strategy());
    input.ruleFlows().forEach((flow, rule) -> solver.adopt(flow, rule.policy(), rule.list()));
    Round round = solver.next(snapshot);
    PlanDocument document = PlanDocument.of(round, ListForecast.of(snapshot, round.decisions()));
    out().print(json ? Json.of(document) + "\n" : PlanTable.of(document));
    out().flush();
    return 0;
  }

  @Command(
      name = "run",
      description = {
        "Runs in the foreground until SIGTERM or SIGINT.",
        "It withdraws its rules when it ends. If it is killed, gateways keep them for a while.",
        "SIGHUP changes nothing: restart it to read the configuration again."
      },
      mixinStandardHelpOptions = true)
  int run(@CommandLine.Mixin ControllerConfigOption option) throws InterruptedException {
    ControllerConfig config = ControllerConfig.read(option.file());
    NetworkConfig network = Controller.network(config);
    DaemonStart.requireNotRunning(ControllerControl.DAEMON, network.control());
    Log log = DaemonStart.timedLog();
    DaemonFaults.exitOnUncaughtError("heddle controller", log);
    HangUps.ignore(log);
    Controller controller = Controller.start(config, log);
    ControlSocket socket =
        DaemonStart.orEnd(
            controller::close,
            () ->
                ControlSocket.listen(
                    ControllerControl.DAEMON,
                    network.control(),
                    question -> ControllerControl.answer(controller, question),
                    log));
    controller.startDecisions(() -> DaemonFaults.end(log));
    CountDownLatch ended =
        DaemonStart.onEnd(() -> {
          socket.close();
          controller.close();
          log.info("ended; its rules are withdrawn");
        });
    log.info(
        "%d gateways, %d links, strategy %s; control socket at %s",
        network.gateways().size(),
        network.links().size(),
        config.strategy().text(),
        network.control());
    ended.await();
    return 0;
  }

  @Command(
      name = "show",
      description = "Shows reporting gateways, load of lists, wanted rules, and reasons.",
      mixinStandardHelpOptions = true)
  int show(
      @CommandLine.Mixin ControllerControl control,
      @Option(names = "--json", description = "Print one JSON document.") boolean json) {
    ControllerStatus.Overview now = control.show(ControllerStatus.Overview.class);
    print(json ? List.of(Json.of(now)) : ControllerTables.overview(now));
    return 0;
  }

  @Command(
      name = "audit",
      description = "Compares the rules of the gateways with the reasons that the controller has.",
      mixinStandardHelpOptions = true,
      exitCodeList = {
        "0:Every rule of the controller has a reason, and every reason its rule.",
        "1:A rule or a reason is missing, or a gateway doesn't report."
      })
  int audit(
      @CommandLine.Mixin ControllerControl control,
      @Option(names = "--json", description = "Print one JSON document.") boolean json) {
    ControllerStatus.AuditReport report = control.audit(ControllerStatus.AuditReport.class);
    print(json ? List.of(Json.of(report)) : ControllerTables.audit(report));
    return report.faults() == 0 ? 0 : ExitCode.FAILED;
  }

  private void print(List<String> lines) {
    lines.forEach(out()::println);
    out().flush();
  }
}
