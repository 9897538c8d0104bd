package io.heddle.tools.lab;

import java.util.List;
import java.util.Map;

/** Lab on the hosts of a fabric; rank 0 is the fabric's first host. */
public final class FabricLab implements Lab {
  private final Fabric fabric;
  private final FabricRouteDaemons speakers;

  public FabricLab(Fabric fabric, FabricRouteDaemons speakers) {
    this.fabric = fabric;
    this.speakers = speakers;
  }

  @Override
  public Kind kind() {
    return Kind.NAMESPACES;
  }

  @Override
  public LabPlan plan() {
    FabricPlan plan = fabric.plan();
    return new LabPlan(plan.hosts(), plan.planes(), plan.mtuBytes());
  }

  @Override
  public List<String> command(int rank, List<String> command) {
    return fabric.onHost(rank + 1, command);
  }

  @Override
  public Map<String, String> environment(int rank) {
    return Map.of("HEDDLE_ROUTES", speakers.file(rank + 1).toString());
  }

  /** Returns the number of bytes that each plane's spine has received from all leaves. */
  @Override
  public List<Long> sentBytesByPlane() {
    return fabric.receivedBytesByPlane();
  }

  @Override
  public void close() {
    Fabric.down(fabric.name());
  }
}
