package io.heddle.transport;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.DescriptorExhaustion;
import io.heddle.transport.device.Providers;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Program that starts the transport with few free descriptors. Prints the largest number of them
 * with which the start failed. Argument: {@code FOLDER}.
 */
final class DescriptorExhaustionRun {
  private DescriptorExhaustionRun() {}

  public static void main(String[] arguments) {
    Map<String, String> environment =
        Map.of(
            "HEDDLE_PLANES",
            "127.0.79.1=one,127.0.79.2=two",
            "HEDDLE_PROVIDER",
            "soft",
            "HEDDLE_ROUTES",
            arguments[0] + "/routes",
            "HEDDLE_STATS_DIR",
            arguments[0] + "/stats",
            "NCCL_SOCKET_IFNAME",
            "lo");
    System.out.println(DescriptorExhaustion.mostRefused(() -> startsTransport(environment)));
  }

  private static boolean startsTransport(Map<String, String> environment) {
    List<String> lines = new CopyOnWriteArrayList<>();
    try (Transport started =
        Transport.open(
            environment, (level, sentence) -> lines.add(sentence), Providers::ofThisBuild)) {
      return lines.stream().noneMatch(line -> line.contains("EMFILE"));
    } catch (HeddleException refused) {
      if (!String.valueOf(refused.getMessage()).contains("ulimit -n")) {
        throw new AssertionError("refused by these words", refused);
      }
      return false;
    } finally {
      if (lines.stream().anyMatch(line -> line.contains("left open"))) {
        throw new AssertionError(lines.toString());
      }
    }
  }
}
