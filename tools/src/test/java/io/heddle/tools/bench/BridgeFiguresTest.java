package io.heddle.tools.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Test of {@link BridgeFigures} on shortened JSON documents. */
class BridgeFiguresTest {
  private static List<Figure> latency(String rows) throws Exception {
    JsonNode report = Json.mapper().readTree("{\"rows\": [" + rows + "]}");
    return BridgeFigures.latency(report);
  }

  private static String row(String joining, String load, double median) {
    return String.format(
        Locale.ROOT,
        "{\"joining\": \"%s\", \"load\": \"%s\", \"added_median_us\": %s, \"added_p999_us\": 99,"
            + " \"capacity_packets_per_second\": %s}",
        joining,
        load,
        median,
        1000 * median);
  }

  private static double named(List<Figure> figures, String name) {
    return figures.stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError(name + " isn't in " + figures))
        .median();
  }

  @Test
  void latencyRatioOfBridgeToForwarderIsGivenForEachLoad() throws Exception {
    List<Figure> figures =
        latency(
            String.join(
                ",",
                row("one fabric", "idle", 0),
                row("bridge", "idle", 30),
                row("bridge, spinning", "idle", 15),
                row("C forwarder", "idle", 20),
                row("bridge", "half", 40),
                row("C forwarder", "half", 10)));
    assertEquals(1.5, named(figures, "idle, bridge added ÷ C forwarder"));
    assertEquals(0.5, named(figures, "idle, spinning bridge added ÷ sleeping"));
    assertEquals(4, named(figures, "half, bridge added ÷ C forwarder"));
    assertEquals(15, named(figures, "idle, bridge, spinning, added median"));
    assertEquals(4, named(figures, "at most, bridge ÷ C forwarder"));
    assertEquals(99, named(figures, "half, bridge, added 99.9 %"));
    assertTrue(figures.stream().noneMatch(each -> each.name().contains("one fabric")));
  }

  @Test
  void withoutSpinningBridgeItsFigureIsAbsent() throws Exception {
    List<Figure> figures =
        latency(row("bridge", "idle", 30) + "," + row("C forwarder", "idle", 20));
    assertTrue(figures.stream().noneMatch(each -> each.name().contains("spinning")));
  }
}
