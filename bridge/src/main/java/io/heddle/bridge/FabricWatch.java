package io.heddle.bridge;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.platform.Log;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Looks after the bridge's ends in both fabrics, and tells what became of them. In the network
 * namespace of the thread that looks; the control thread's.
 */
final class FabricWatch {
  private final List<FabricPort> fabrics;
  private final Log log;
  private final Consumer<String> tell;
  private final String[] last;

  /**
   * @param tell takes what an operator should hear of
   */
  FabricWatch(List<FabricPort> fabrics, Log log, Consumer<String> tell) {
    this.fabrics = fabrics;
    this.log = log;
    this.tell = tell;
    last = new String[fabrics.size()];
    Arrays.fill(last, "");
  }

  void look() {
    for (int side = 0; side < fabrics.size(); side++) {
      FabricPort fabric = fabrics.get(side);
      String state = fabric.look();
      if (!state.equals(last[side])) {
        last[side] = state;
        String front = "fabric " + fabric.name() + ": ";
        if (state.isEmpty()) {
          String well = front + "all is as it was at the start again";
          log.info("%s", well);
          tell.accept(well);
        } else {
          log.warn("%s", front + state);
          tell.accept(front + state);
        }
      }
    }
  }
}
