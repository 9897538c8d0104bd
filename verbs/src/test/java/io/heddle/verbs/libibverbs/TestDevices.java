package io.heddle.verbs.libibverbs;

import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.RdmaDevice;
import java.util.List;
import java.util.Map;

/**
 * Libibverbs devices for tests, one for the left and one for the right end. The system property
 * {@code heddle.test.devices} names them, separated by a comma; by default the first device of this
 * host is both.
 */
final class TestDevices {
  private static final String PROPERTY = "heddle.test.devices";

  private TestDevices() {}

  static List<RdmaDevice> all(LeakLedger ledger) {
    return new LibibverbsProvider().devices(Map.of(), Log.toStandardError(), ledger);
  }

  /** Condition for {@code @EnabledIf}. */
  static boolean arePresent() {
    return !all(new LeakLedger()).isEmpty();
  }

  static DeviceContext openLeft(LeakLedger ledger) {
    return open(0, ledger);
  }

  static DeviceContext openRight(LeakLedger ledger) {
    return open(1, ledger);
  }

  private static DeviceContext open(int end, LeakLedger ledger) {
    String[] names = System.getProperty(PROPERTY, "").split(",");
    String wanted = names[Math.min(end, names.length - 1)];
    return all(ledger).stream()
        .filter(device -> wanted.isEmpty() || device.name().equals(wanted))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no device " + wanted + " (" + PROPERTY + ")"))
        .open();
  }

  /** Returns the index of the port's first routable RoCEv2 address. */
  static int gidIndex(DeviceContext context) {
    return context.gidTable().entries().stream()
        .filter(entry -> entry.type() != GidTable.Type.ROCE_V1 && !entry.gid().isLinkLocal())
        .findFirst()
        .orElseThrow(() -> new AssertionError(context.device().name() + ": no global address"))
        .index();
  }
}
