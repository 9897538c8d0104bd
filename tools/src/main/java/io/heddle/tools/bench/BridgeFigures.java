package io.heddle.tools.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Conversion of the bridge commands' JSON to figures. */
final class BridgeFigures {
  static final String BRIDGE = "bridge";
  static final String SPINNING = "bridge, spinning";
  static final String BESIDE_C = ", bridge added ÷ C forwarder";
  static final String SPINNING_BESIDE = ", spinning bridge added ÷ sleeping";
  private static final String FORWARDER = "C forwarder";
  private static final String KERNEL = "kernel routing";

  private BridgeFigures() {}

  /**
   * Converts the JSON of {@code heddle bridge latency}: the latency that each forwarder adds, the
   * bridge's median ÷ the C forwarder's for each load, the spinning bridge's median ÷ the bridge's,
   * and the bridge's capacity ÷ that of the C forwarder and ÷ that of kernel routing.
   */
  static List<Figure> latency(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    Map<String, Map<String, Double>> added = new LinkedHashMap<>();
    Map<String, Double> most = new LinkedHashMap<>();
    for (JsonNode row : report.path("rows")) {
      String load = row.path("load").asText();
      String joining = row.path("joining").asText();
      double median = row.path("added_median_us").asDouble();
      if (median != 0) {
        figures.add(Figure.of(load + ", " + joining + ", added median", "us", median));
        figures.add(
            Figure.of(
                load + ", " + joining + ", added 99.9 %",
                "us",
                row.path("added_p999_us").asDouble()));
      }
      most.put(joining, row.path("capacity_packets_per_second").asDouble());
      added.computeIfAbsent(load, key -> new LinkedHashMap<>()).put(joining, median);
    }
    added.forEach((load, by) -> {
      addRatio(figures, load + BESIDE_C, by.get(BRIDGE), by.get(FORWARDER));
      addRatio(figures, load + SPINNING_BESIDE, by.get(SPINNING), by.get(BRIDGE));
    });
    for (String rival : List.of(FORWARDER, KERNEL)) {
      addRatio(figures, "at most, bridge ÷ " + rival, most.get(BRIDGE), most.get(rival));
    }
    return figures;
  }

  private static void addRatio(
      List<Figure> figures, String name, @Nullable Double one, @Nullable Double other) {
    if (one != null && other != null && other > 0) {
      figures.add(Figure.of(name, "", one / other));
    }
  }
}
