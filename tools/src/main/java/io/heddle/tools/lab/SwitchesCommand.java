package io.heddle.tools.lab;

import io.heddle.tools.switching.LabSwitches;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * Command of the background process that maintains a lab's switches until the lab is taken down.
 */
@Command(
    name = "switches",
    hidden = true,
    description = "Maintains the switches of a lab; started by heddle lab up --switching.",
    mixinStandardHelpOptions = true)
final class SwitchesCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Parameters(
      paramLabel = "FILE",
      description = "The lab's file with the load balancing settings of its switches.")
  private Path file = Path.of("");

  @Override
  public Integer call() throws InterruptedException {
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null || folder.getFileName() == null) {
      throw new LabException(file + " is not in a lab's folder");
    }
    Fabric fabric = Fabric.open(folder.getFileName().toString());
    FabricSwitching how = fabric.switching();
    if (how == null) {
      throw new LabException("the lab '" + fabric.name() + "' has no load-balancing switches");
    }
    try (LabSwitches running = fabric.startSwitching(how)) {
      SwitchesProcess.markReady(fabric.folder());
      /* Blocks until the process is killed. The switches then keep their state. */
      running.awaitFailure();
    }
    throw new LabException("the switches can't be polled any more; recreate the lab");
  }
}
