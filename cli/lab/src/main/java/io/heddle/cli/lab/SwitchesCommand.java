package io.heddle.cli.lab;

import io.heddle.switching.LabSwitches;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The process that looks after a lab's switches until the lab is taken down. */
@Command(
    name = "switches",
    hidden = true,
    description = "Looks after the switches of a lab; heddle lab up --switching starts it.",
    mixinStandardHelpOptions = true)
final class SwitchesCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Parameters(paramLabel = "FILE", description = "The lab's file of how its switches choose.")
  private Path file = Path.of("");

  @Override
  public Integer call() throws InterruptedException {
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null || folder.getFileName() == null) {
      throw new LabException(file + " lies in no lab's folder");
    }
    Fabric fabric = Fabric.open(folder.getFileName().toString());
    FabricSwitching how = fabric.switching();
    if (how == null) {
      throw new LabException("the lab '" + fabric.name() + "' has switches that don't choose");
    }
    try (LabSwitches running = fabric.startSwitching(how)) {
      SwitchesProcess.ready(fabric.folder());
      /* Until somebody ends the process: what switches are told stays with them. */
      running.awaitLoss();
    }
    throw new LabException("every look at the switches fails; make the lab anew");
  }
}
