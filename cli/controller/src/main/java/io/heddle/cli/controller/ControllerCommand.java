package io.heddle.cli.controller;

import io.heddle.cli.kit.DaemonFaults;
import io.heddle.cli.kit.DaemonStart;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.QuestionSocket;
import io.heddle.controller.file.ControllerConfig;
import io.heddle.controller.file.SnapshotFile;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.network.NetworkConfig;
import io.heddle.controller.run.Controller;
import io.heddle.controller.run.ControllerStatus;
import io.heddle.controller.solver.Outlook;
import io.heddle.controller.solver.Round;
import io.heddle.controller.solver.Solver;
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

/** The controller between data centres. */
@Command(
    name = "controller",
    description =
        "Which RoCEv2 queue pairs should go over which SRv6 segment lists between data centres.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND")
public final class ControllerCommand {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  private PrintWriter out() {
    return Objects.requireNonNull(spec).commandLine().getOut();
  }

  @Command(
      name = "check",
      description = "Says whether a configuration is right.",
      mixinStandardHelpOptions = true)
  int check(
      @Option(
              names = "--config",
              paramLabel = "FILE",
              required = true,
              description = "The configuration.")
          Path file) {
    ControllerConfig config = ControllerConfig.read(file);
    out()
        .printf(
            Locale.ROOT,
            "%s is right: strategy %s, lists are relieved from %.0f %% on%n",
            file,
            config.strategy().text(),
            100 * config.settings().high());
    out().flush();
    return 0;
  }

  @Command(
      name = "plan",
      description = {
        "Dry run: what the controller would do with a snapshot, and why.",
        "It takes what the snapshot shows as if it had lasted, and changes nothing."
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
    PlanDocument document = PlanDocument.of(round, Outlook.of(snapshot, round.decisions()));
    out().print(json ? Json.of(document) + "\n" : PlanTable.of(document));
    out().flush();
    return 0;
  }

  @Command(
      name = "run",
      description = {
        "Runs in the foreground until it is told to end (SIGTERM, SIGINT).",
        "It withdraws its rules when it ends. When it is killed, gateways keep them for a while."
      },
      mixinStandardHelpOptions = true)
  int run(
      @Option(
              names = "--config",
              paramLabel = "FILE",
              defaultValue = "/etc/heddle/controller.conf",
              description = "The configuration (${DEFAULT-VALUE}).")
          Path file)
      throws InterruptedException {
    ControllerConfig config = ControllerConfig.read(file);
    NetworkConfig network = Controller.network(config);
    DaemonStart.requireAlone(ControllerControl.DAEMON, network.control());
    Log log = DaemonStart.timedLog();
    DaemonFaults.endProcessFor("heddle controller", log);
    Controller controller = Controller.start(config, log);
    QuestionSocket socket =
        QuestionSocket.listen(
            ControllerControl.DAEMON,
            network.control(),
            question -> ControllerControl.answer(controller, question),
            log);
    controller.decide(() -> DaemonFaults.end(log));
    CountDownLatch ended = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> {
              socket.close();
              controller.close();
              log.info("ended; its rules are withdrawn");
              ended.countDown();
            }));
    log.info(
        "%d gateways, %d links, strategy %s; questions at %s",
        network.gateways().size(),
        network.links().size(),
        config.strategy().text(),
        network.control());
    ended.await();
    return 0;
  }

  @Command(
      name = "show",
      description = "Who reports, how busy lists are, which rules are wanted, and why.",
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
      description =
          "Holds the rules that gateways have against the reasons that the controller knows.",
      mixinStandardHelpOptions = true,
      exitCodeList = {
        "0:Each rule of the controller has a reason, and each reason its rule.",
        "1:Not so, or a gateway doesn't report."
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
