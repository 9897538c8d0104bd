package io.heddle.tools.soak;

import io.heddle.cli.kit.Cleanup;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.FabricLab;
import io.heddle.tools.lab.FabricPlan;
import io.heddle.tools.lab.FabricRouteDaemons;
import io.heddle.tools.lab.FabricShape;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.TemporaryFabric;
import java.nio.file.Path;
import java.util.Collections;

/**
 * Network of two hosts on a fabric. Each host has its own leaf, the spines are the planes, and a
 * route daemon runs on each host.
 */
final class ChaosFabric implements ChaosNetwork {
  private static final int SPINES = 3;
  private static final long RATE = 2_000_000_000L;
  private static final int GBPS = 100;
  private static final int MTU_BYTES = 9_000;
  private static final int QUEUE_MS = 20;
  private static final int HOLD_SECONDS = 9;
  private static final int BFD_MS = 200;

  private final Fabric fabric;
  private final FabricRouteDaemons speakers;
  private final FabricLab lab;

  private ChaosFabric(TemporaryFabric own) {
    fabric = own.fabric();
    speakers = own.speakers();
    lab = own.lab();
  }

  static ChaosFabric up(Path folder, Cleanup cleanup) {
    FabricPlan plan =
        new FabricPlan(
            FabricShape.LEAF_SPINE,
            SPINES,
            1,
            2,
            2,
            Collections.nCopies(SPINES, RATE),
            Collections.nCopies(SPINES, GBPS),
            MTU_BYTES,
            QUEUE_MS,
            HOLD_SECONDS,
            BFD_MS,
            false);
    return new ChaosFabric(TemporaryFabric.up('k', plan, folder, cleanup));
  }

  ChaosPlan plan(long seed) {
    return ChaosPlan.onFabric(seed, SPINES, MTU_BYTES);
  }

  @Override
  public Lab lab() {
    return lab;
  }

  @Override
  public void settle() {
    speakers.awaitRoutes();
  }

  private String leaf(ChaosEvent event) {
    return fabric.leafOf(event.rank() + 1);
  }

  @Override
  public void begin(ChaosEvent event) {
    int plane = event.plane() + 1;
    switch (event.fault()) {
      case SPINE_CUT -> fabric.cut(plane, leaf(event), false);
      case SPINE_SILENT -> fabric.cut(plane, leaf(event), true);
      case WEIGHT_CHANGE -> fabric.setRate(plane, RATE, event.amount());
      case SESSION_RESET -> fabric.resetHostSessions(leaf(event));
      case DAEMON_KILLED -> speakers.kill(event.rank() + 1);
      case CARRIER_CUT,
          SILENT_CUT,
          ADDRESS_REMOVED,
          LOSS,
          NARROWED,
          ALL_LINKS_DOWN,
          ALL_SILENT,
          STOPPED_PEER,
          KILLED_PEER,
          CLOCK_STEP ->
          throw ChaosNetwork.unsupported(event);
    }
  }

  @Override
  public void undo(ChaosEvent event) {
    int plane = event.plane() + 1;
    switch (event.fault()) {
      case SPINE_CUT, SPINE_SILENT -> fabric.restore(plane);
      case WEIGHT_CHANGE -> fabric.setRate(plane, RATE, GBPS);
      case SESSION_RESET -> {}
      case DAEMON_KILLED -> speakers.restart(event.rank() + 1);
      /* begin() has rejected all other faults. */
      default -> throw ChaosNetwork.unsupported(event);
    }
  }

  /* Closes nothing: the command's clean-up removes the fabric and its daemons. */
  @Override
  public void close() {}
}
