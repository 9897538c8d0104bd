package io.heddle.cli.controller;

import io.heddle.cli.kit.Json;
import io.heddle.controller.file.ControllerConfig;
import io.heddle.controller.file.SnapshotFile;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.solver.Outlook;
import io.heddle.controller.solver.Round;
import io.heddle.controller.solver.Solver;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
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
}
