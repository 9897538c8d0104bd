package io.heddle.tools.lab;

import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/**
 * Lab whose hosts are sets of loopback addresses. Every process sees the addresses of all hosts, so
 * HEDDLE_PLANES selects the addresses of a process's own host.
 */
final class LoopbackLab implements Lab {
  private final LabPlan plan;

  LoopbackLab(LabPlan plan) {
    this.plan = plan;
  }

  @Override
  public Kind kind() {
    return Kind.LOOPBACK;
  }

  @Override
  public LabPlan plan() {
    return plan;
  }

  @Override
  public List<String> command(int rank, List<String> command) {
    return command;
  }

  @Override
  public Map<String, String> environment(int rank) {
    StringJoiner planes = new StringJoiner(",");
    for (int plane = 0; plane < plan.planes(); plane++) {
      planes.add(LabPlan.loopbackAddress(rank, plane) + "=" + (plane + 1));
    }
    return Map.of("HEDDLE_PLANES", planes.toString());
  }

  @Override
  public List<Long> sentBytesByPlane() {
    return List.of();
  }

  @Override
  public void close() {
    /* Does nothing, as there is nothing to remove. */
  }
}
