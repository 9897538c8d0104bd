package io.heddle.bridge;

import io.heddle.addr.HostAddresses;
import io.heddle.bridge.fabric.WireFabric;
import io.heddle.platform.Log;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Looks after the fabrics' interfaces, and tells what became of them. In the network namespace of
 * the thread that looks; the control thread's.
 */
final class FabricWatch {
  private final List<WireFabric> fabrics;
  private final Log log;
  private final Consumer<String> tell;
  private final String[] last;

  /**
   * @param tell takes what an operator should hear of
   */
  FabricWatch(List<WireFabric> fabrics, Log log, Consumer<String> tell) {
    this.fabrics = fabrics;
    this.log = log;
    this.tell = tell;
    last = new String[fabrics.size()];
    Arrays.fill(last, "");
  }

  void look() {
    HostAddresses host = HostAddresses.read();
    for (int side = 0; side < fabrics.size(); side++) {
      WireFabric fabric = fabrics.get(side);
      String state = fabric.look(host);
      if (!state.equals(last[side])) {
        last[side] = state;
        String front = "fabric " + fabric.name() + ": ";
        if (state.isEmpty()) {
          String well = front + "its interface is as it was at the start again";
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
