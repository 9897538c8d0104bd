package io.heddle.tools.lab;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.OwnCommandLine;
import java.nio.file.Path;

/** Fabric that exists for the duration of a command, with a route daemon on each host. */
public record TemporaryFabric(Fabric fabric, FabricRouteDaemons speakers, FabricLab lab) {
  /**
   * Creates the fabric. The command's clean-up takes it down.
   *
   * @param letter first letter of the fabric's name, which identifies the command
   * @param folder folder for the daemons' logs
   */
  public static TemporaryFabric up(char letter, FabricPlan plan, Path folder, Cleanup cleanup) {
    long own = ProcessHandle.current().pid();
    String name = letter + Long.toString(own, Character.MAX_RADIX);
    /* Registered before the fabric is created, so that an interrupt removes a partial fabric. */
    cleanup.add(() -> Fabric.downIfUp(name));
    Fabric fabric = Fabric.up(name, plan, own);
    FabricRouteDaemons speakers =
        cleanup.add(new FabricRouteDaemons(fabric, folder, OwnCommandLine.asStarted()));
    return new TemporaryFabric(fabric, speakers, new FabricLab(fabric, speakers));
  }
}
