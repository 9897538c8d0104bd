package io.heddle.bridge;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.unicast.HostForwarder;
import io.heddle.platform.Log;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;
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
  /* Written by the thread that looks, read by whoever asks. */
  private volatile @Nullable String trouble;

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

  /** What keeps a fabric from carrying, in words; empty for nothing, null before the first look. */
  @Nullable String trouble() {
    return trouble;
  }

  void look() {
    StringJoiner wrong = new StringJoiner("; ");
    for (int side = 0; side < fabrics.size(); side++) {
      FabricPort fabric = fabrics.get(side);
      String front = "fabric " + fabric.name() + ": ";
      String state = fabric.look();
      tellChange(side, front, state);
      if (!state.isEmpty()) {
        wrong.add(front + state);
      }
    }
    trouble = wrong.toString();
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
