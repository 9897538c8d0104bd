package io.heddle.bridge;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.unicast.HostForwarder;
import io.heddle.platform.Log;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Looks after the bridge's ends in both fabrics, and tells what became of them. In the network
 * namespace of the thread that looks; the control thread's.
 */
final class FabricWatch {
  private final List<FabricPort> fabrics;
  private final Log log;
  private final Consumer<String> tell;
  private final String[] last;
  private final @Nullable HostForwarder hosts;

  /**
   * @param hosts takes what is for one host; null where nothing does
   * @param tell takes what an operator should hear of
   */
  FabricWatch(
      List<FabricPort> fabrics, @Nullable HostForwarder hosts, Log log, Consumer<String> tell) {
    this.hosts = hosts;
    this.fabrics = fabrics;
    this.log = log;
    this.tell = tell;
    last = new String[fabrics.size() + 1];
    Arrays.fill(last, "");
  }

  void look() {
    for (int side = 0; side < fabrics.size(); side++) {
      FabricPort fabric = fabrics.get(side);
      tellChange(side, "fabric " + fabric.name() + ": ", fabric.look());
    }
    if (hosts != null) {
      tellChange(fabrics.size(), "unicast: ", hosts.look());
    }
  }

  private void tellChange(int place, String front, String state) {
    if (!state.equals(last[place])) {
      last[place] = state;
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
