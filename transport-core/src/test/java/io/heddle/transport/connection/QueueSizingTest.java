package io.heddle.transport.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.qppool.PlaneQueuePair.QueueDepths;
import io.heddle.verbs.DeviceAttributes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QueueSizingTest {
  private static QueueDepths of(int workRequests, int completions, int queuePairs) {
    DeviceAttributes limits =
        new DeviceAttributes(1, "/", 64, workRequests, 64, completions, false);
    return QueueSizing.of("small0", limits, queuePairs, 64);
  }

  /**
   * The second row has the limits of the kernel's Soft-RoCE, for 16 planes with 4 queue pairs each.
   */
  @ParameterizedTest
  @CsvSource({
    "16384, 1000000, 64, 256, 512",
    "16384, 32767, 64, 170, 341",
    "16384, 32767, 42, 256, 512",
    "16384, 32767, 43, 254, 508",
    "300, 1000000, 4, 256, 300",
    "100, 1000000, 4, 100, 100",
    "16384, 48, 1, 16, 32",
    "32, 1000000, 1, 32, 32"
  })
  void queuesAreAsDeepAsTheDeviceAllows(
      int workRequests, int completions, int queuePairs, int sends, int receives) {
    QueueDepths depths = of(workRequests, completions, queuePairs);
    assertEquals(new QueueDepths(sends, receives, 64), depths);
    assertTrue(queuePairs * (depths.sends() + depths.receives()) <= completions);
  }

  @ParameterizedTest
  @CsvSource({"16384, 47, 1", "16384, 3000, 64", "31, 1000000, 1", "0, 0, 1"})
  void tooSmallDepthsAreReportedWithTheDevicesLimits(
      int workRequests, int completions, int queuePairs) {
    String message =
        assertThrows(HeddleException.class, () -> of(workRequests, completions, queuePairs))
            .getMessage();
    assertTrue(message.contains("small0 takes " + workRequests + " work requests"), message);
    assertTrue(message.contains(completions + " completions"), message);
    assertTrue(
        message.contains(queuePairs + " queue pairs needs 32 and " + 48 * queuePairs), message);
  }

  @Test
  void smallDeviceWithFewQueuePairsAllowsMoreRefusals() {
    assertEquals(16, of(16384, 3072, 64).sends());
    assertThrows(HeddleException.class, () -> of(16384, 3071, 64));
  }
}
