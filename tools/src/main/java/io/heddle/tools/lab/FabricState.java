package io.heddle.tools.lab;

import java.util.List;

/**
 * Stored state of a fabric, for the processes that read it, change it or take it down.
 *
 * @param name unique name of the fabric on this machine
 * @param owner ID of the process that takes the fabric down when it ends; 0 if the fabric outlives
 *     the command that created it
 * @param since time of creation, ISO 8601
 * @param complete whether the command that created it finished
 * @param plan plan with the current rates and path bandwidths, which may have been changed since
 *     creation
 * @param unreachable addresses that their planes announce as unreachable, as {@code plane/address}
 */
record FabricState(
    String name,
    long owner,
    String since,
    boolean complete,
    FabricPlan plan,
    List<String> unreachable) {
  FabricState {
    unreachable = List.copyOf(unreachable);
  }

  FabricState completed() {
    return new FabricState(name, owner, since, true, plan, unreachable);
  }

  FabricState withPlan(FabricPlan changed) {
    return new FabricState(name, owner, since, complete, changed, unreachable);
  }

  FabricState withUnreachable(List<String> changed) {
    return new FabricState(name, owner, since, complete, plan, changed);
  }
}
