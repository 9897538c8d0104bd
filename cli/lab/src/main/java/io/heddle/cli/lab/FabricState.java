package io.heddle.cli.lab;

import java.util.List;

/**
 * What is written down of a fabric, for the processes that look at it, change it or take it down.
 *
 * @param name tells fabrics of one machine apart
 * @param owner process that takes the fabric down when it ends; 0 where the fabric is to outlive
 *     the command that made it
 * @param since when it was made, ISO 8601
 * @param complete whether the command that made it came to its end
 * @param plan as it is now: rates and path bandwidths may have been changed
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
