package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.heddle.bridge.status.BridgeStatus;
import io.heddle.platform.testing.Deadline;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** Reader of a running bridge's status file. */
final class ShownStatus {
  private static final long POLL_MS = 20;

  private ShownStatus() {}

  /**
   * Reads the status file until the status fulfils the condition, and returns the status.
   *
   * @param bridge process of the bridge, whose output is added to the message of a failure
   */
  static BridgeStatus await(
      Path file, HostProcess bridge, long limitSeconds, Predicate<BridgeStatus> what) {
    Deadline deadline = Deadline.ofSeconds(limitSeconds);
    BridgeStatus status = BridgeStatus.read(file);
    while (!what.test(status)) {
      BridgeStatus last = status;
      assertFalse(deadline.isOver(), () -> last + "\n" + bridge.outputOrWhyNot());
      try {
        TimeUnit.MILLISECONDS.sleep(POLL_MS);
      } catch (InterruptedException interrupted) {
        throw new AssertionError(interrupted);
      }
      status = BridgeStatus.read(file);
    }
    return status;
  }
}
