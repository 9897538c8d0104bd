package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.data.LoopbackQueuePairs;
import io.heddle.transport.device.NetDevice;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.testing.LoopbackFabric;
import io.heddle.verbs.testing.LoopbackProvider;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of connections with 64 queue pairs on devices with lower limits than desired. */
class SmallDeviceTest {
  private static final List<Integer> PLANES = IntStream.rangeClosed(1, 16).boxed().toList();
  private static final Map<String, String> FOUR_EACH = Map.of("NCCL_IB_QPS_PER_CONNECTION", "4");
  private static final int LENGTH = 3_000_000;

  @TempDir private Path folder;

  private Ends on(int workRequests, int completions) {
    return new Ends(
        new LoopbackFabric(1),
        folder,
        PLANES,
        FOUR_EACH,
        new LoopbackProvider.Limits(workRequests, completions));
  }

  /**
   * The first row has the limits of the kernel's Soft-RoCE, and the second row has the smallest
   * possible limits.
   */
  @ParameterizedTest
  @CsvSource({"16384, 32767", "32, 3072"})
  void queuesAreShallowerAndEveryByteArrives(int workRequests, int completions) {
    try (Ends ends = on(workRequests, completions);
        Ends.Link link = ends.connect()) {
      assertEquals(64, link.sending().pairs().endpoints().size());
      for (int seed = 0; seed < 4; seed++) {
        ends.exchange(link, LENGTH, LENGTH, seed);
      }
    }
  }

  /* Both ends have such a device, and either may be the first to refuse. */
  @Test
  void tooSmallDeviceIsReportedWithItsLimits() {
    try (Ends ends = on(4096, 3071)) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      List<String> refusals = new ArrayList<>();
      List<BooleanSupplier> open =
          new ArrayList<>(
              List.of(
                  () -> ends.left.connect(0, -1, handle) != null,
                  () -> ends.right.accept(listener) != null));
      Ends.await(
          "the refusal of both ends",
          () -> {
            open.removeIf(end -> {
              try {
                assertFalse(end.getAsBoolean(), "a connection");
                return false;
              } catch (HeddleException refused) {
                return refusals.add(String.valueOf(refused.getMessage()));
              }
            });
            return open.isEmpty();
          });
      for (String message : refusals) {
        assertTrue(message.contains("loopback0") && message.contains("3071"), message);
        assertTrue(message.contains("max_cqe") && message.contains("HEDDLE_PLANES"), message);
      }
      listener.close();
    }
  }

  @Test
  void failingSelfQueuePairsReportTheLimits() {
    try (Ends ends = on(4096, 4127)) {
      NetDevice device = ends.left.devices().getFirst();
      VerbsException refused =
          assertThrows(VerbsException.class, () -> new LoopbackQueuePairs(device, 1, "the test"));
      String message = String.valueOf(refused.getMessage());
      assertTrue(message.contains("the test") && message.contains("4127 completions"), message);
      assertTrue(message.contains("4128"), message);
    }
  }
}
