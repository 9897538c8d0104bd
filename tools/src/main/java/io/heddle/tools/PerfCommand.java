package io.heddle.tools;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The benchmarks. */
@Command(
    name = "perf",
    description = "Measures, always beside a rival in the same run.",
    mixinStandardHelpOptions = true,
    versionProvider = HeddleCommand.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = PerfPluginCommand.class)
final class PerfCommand implements Runnable {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Override
  public void run() {
    if (spec != null) {
      spec.commandLine().usage(spec.commandLine().getOut());
    }
  }
}
