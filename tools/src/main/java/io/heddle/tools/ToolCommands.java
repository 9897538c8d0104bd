package io.heddle.tools;

import io.heddle.cli.heddle.CommandExtension;
import io.heddle.tools.bench.BenchCommand;
import io.heddle.tools.bench.perf.PerfMeasurements;
import io.heddle.tools.bridge.BridgeDemoCommand;
import io.heddle.tools.bridge.BridgeLatencyCommand;
import io.heddle.tools.demo.DemoCommand;
import io.heddle.tools.lab.LabCommand;
import io.heddle.tools.paths.PathsCheckCommand;
import io.heddle.tools.simulate.SimulateCommand;
import io.heddle.tools.soak.SoakCommand;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine;

/**
 * Commands of heddle that exist in a source checkout only; an installed host's heddle lacks them.
 */
public final class ToolCommands implements CommandExtension {
  private static final List<Class<?>> ROOT =
      List.of(
          DemoCommand.class,
          LabCommand.class,
          BenchCommand.class,
          SoakCommand.class,
          SimulateCommand.class);
  private static final List<Class<?>> BRIDGE =
      List.of(BridgeDemoCommand.class, BridgeLatencyCommand.class);
  private static final List<Class<?>> PATHS = List.of(PathsCheckCommand.class);

  @Override
  public void addTo(CommandLine root) {
    ROOT.forEach(root::addSubcommand);
    BRIDGE.forEach(child(root, "bridge")::addSubcommand);
    PATHS.forEach(child(root, "paths")::addSubcommand);
    PerfMeasurements.COMMANDS.forEach(child(root, "perf")::addSubcommand);
  }

  private static CommandLine child(CommandLine root, String name) {
    return Objects.requireNonNull(root.getSubcommands().get(name), name);
  }
}
