package io.heddle.bridge;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.platform.Log;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Monitor of the bridge's ports in both fabrics, which reports their changes. Runs on the control
 * thread, in that thread's network namespace.
 */
final class FabricMonitor {
  private final List<FabricPort> fabrics;
  private final Log log;
  private final Consumer<String> report;
  /* Last reported state of each fabric, then of unicast forwarding; empty for no fault. */
  private final String[] lastStates;
  private final Supplier<String> unicast;
  /* Written by the control thread, read by any thread. */
  private volatile @Nullable String trouble;

  /**
   * @param unicast returns the fault of unicast forwarding in words; empty for none
   * @param report receives messages for the operator
   */
  FabricMonitor(
      List<FabricPort> fabrics, Supplier<String> unicast, Log log, Consumer<String> report) {
    this.unicast = unicast;
    this.fabrics = fabrics;
    this.log = log;
    this.report = report;
    lastStates = new String[fabrics.size() + 1];
    Arrays.fill(lastStates, "");
  }

  /** Returns the faults of the fabrics in words; empty for none, null before the first check. */
  @Nullable String trouble() {
    return trouble;
  }

  void check() {
    StringJoiner wrong = new StringJoiner("; ");
    for (int side = 0; side < fabrics.size(); side++) {
      FabricPort fabric = fabrics.get(side);
      String prefix = "fabric " + fabric.name() + ": ";
      String state = fabric.check();
      reportChange(side, prefix, state);
      if (!state.isEmpty()) {
        wrong.add(prefix + state);
      }
    }
    trouble = wrong.toString();
    reportChange(fabrics.size(), "unicast: ", unicast.get());
  }

  private void reportChange(int index, String prefix, String state) {
    if (!state.equals(lastStates[index])) {
      lastStates[index] = state;
      if (state.isEmpty()) {
        String message = prefix + "all is as it was at the start again";
        log.info("%s", message);
        report.accept(message);
      } else {
        log.warn("%s", prefix + state);
        report.accept(prefix + state);
      }
    }
  }
}
