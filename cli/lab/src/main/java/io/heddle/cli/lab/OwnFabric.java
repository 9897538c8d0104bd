package io.heddle.cli.lab;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.SelfCall;
import java.nio.file.Path;

/** A fabric that a command makes for itself, with a route daemon on each host. */
public record OwnFabric(Fabric fabric, FabricSpeakers speakers, FabricLab lab) {
  /**
   * Makes it; it is taken down by the command's clean-up.
   *
   * @param letter of the command, first of the fabric's name
   * @param folder where the daemons' logs go
   */
  public static OwnFabric up(char letter, FabricPlan plan, Path folder, Cleanup cleanup) {
    long own = ProcessHandle.current().pid();
    String name = letter + Long.toString(own, Character.MAX_RADIX);
    /* Before it is made: an interrupt in the middle takes down what is there. */
    cleanup.add(() -> Fabric.downIfUp(name));
    Fabric fabric = Fabric.up(name, plan, own);
    FabricSpeakers speakers = cleanup.add(new FabricSpeakers(fabric, folder, SelfCall.asStarted()));
    return new OwnFabric(fabric, speakers, new FabricLab(fabric, speakers));
  }
}
