package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.heddle.bridge.status.BridgeStatus;
import io.heddle.platform.testing.Patience;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** What a running bridge shows in its status file. */
final class ShownStatus {
  private static final long BETWEEN_LOOKS_MS = 20;

  private ShownStatus() {}

  /**
   * Looks until it shows this.
   *
   * @param bridge whose words a failure has
   */
  static BridgeStatus await(
      Path file, HostProcess bridge, long limitSeconds, Predicate<BridgeStatus> what) {
    Patience patience = Patience.ofSeconds(limitSeconds);
    BridgeStatus status = BridgeStatus.read(file);
    while (!what.test(status)) {
      BridgeStatus last = status;
      assertFalse(patience.isOver(), () -> last + "\n" + bridge.outputOrWhyNot());
      try {
        TimeUnit.MILLISECONDS.sleep(BETWEEN_LOOKS_MS);
      } catch (InterruptedException interrupted) {
        throw new AssertionError(interrupted);
      }
      status = BridgeStatus.read(file);
    }
    return status;
  }
}
