package io.heddle.tools.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Conversion of the JSON of commands that measure fabrics, switches and simulations to figures. */
final class FabricFigures {
  /** Name of the figure for the share of steps that passed in the demo between data centres. */
  static final String WAN_STEPS = "steps that hold";

  static final String WORST_OF_CAPACITY = ", worst policy ÷ capacity";
  static final String WORST_OF_HASH = ", worst policy ÷ hash";
  private static final String STANDARD = "standard";
  private static final String RXE = "rxe";

  private FabricFigures() {}

  /**
   * Converts the JSON of {@code heddle lab check}: the worst values of all switching modes, and the
   * worst values of the modes that spray, if any ran.
   */
  static List<Figure> labCheck(JsonNode report) {
    double protocol = 1;
    double data = 1;
    double uneven = 0;
    double pairs = Double.POSITIVE_INFINITY;
    int sprayed = 0;
    for (JsonNode row : report.path("rows")) {
      double flows = row.path("flows").asDouble();
      protocol = Math.min(protocol, row.path("protocol_on_one_link").asDouble() / flows);
      pairs = Math.min(pairs, row.path("link_pairs").asDouble());
      if (!row.path("mode").asText().equals("hash")) {
        sprayed++;
        data = Math.min(data, row.path("data_on_all_links").asDouble() / flows);
        uneven = Math.max(uneven, row.path("uneven").asDouble());
      }
    }
    List<Figure> figures = new ArrayList<>();
    if (!report.path("rows").isEmpty()) {
      figures.add(Figure.of("protocol flows on one link", "", protocol));
      figures.add(Figure.of("pairs of links in two tiers", "", pairs));
    }
    if (sprayed > 0) {
      figures.add(Figure.of("sprayed flows on all links", "", data));
      figures.add(Figure.of("sprayed links uneven by", "", uneven));
    }
    return figures;
  }

  /**
   * Converts the JSON of {@code heddle perf switching}: for each situation and switching mode, the
   * value of the worst policy; the highest share of needless retransmissions; and separate figures
   * for standard peers and for the kernel's devices. Figures without any cell are left out.
   */
  static List<Figure> switching(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    List<Double> needless = new ArrayList<>();
    List<Double> standardOfHash = new ArrayList<>();
    List<Double> standardMarked = new ArrayList<>();
    List<Double> rxeOfHash = new ArrayList<>();
    List<Double> rxeMarked = new ArrayList<>();
    for (JsonNode situation : report.path("situations")) {
      Map<String, Double> ofCapacity = new LinkedHashMap<>();
      Map<String, Double> ofHash = new LinkedHashMap<>();
      for (JsonNode cell : situation.path("cells")) {
        String switching = situation.path("name").asText() + ", " + cell.path("switching").asText();
        double besideHash = median(cell, "of_hash");
        if (cell.path("policy").asText().equals(STANDARD)) {
          standardOfHash.add(besideHash);
          standardMarked.add(median(cell, "marked"));
          continue;
        }
        if (cell.path("policy").asText().equals(RXE)) {
          rxeOfHash.add(besideHash);
          rxeMarked.add(median(cell, "marked"));
          continue;
        }
        ofCapacity.merge(switching, median(cell, "of_capacity"), Math::min);
        ofHash.merge(switching, besideHash, Math::min);
        if (switching.endsWith(", spraylink")) {
          needless.add(median(cell, "spurious_retransmissions"));
        }
      }
      ofCapacity.forEach((of, value) -> figures.add(Figure.of(of + WORST_OF_CAPACITY, "", value)));
      ofHash.forEach((of, value) -> figures.add(Figure.of(of + WORST_OF_HASH, "", value)));
    }
    if (!needless.isEmpty()) {
      figures.add(Figure.of("needless sendings under spraylink", "", Collections.max(needless)));
    }
    if (!standardOfHash.isEmpty()) {
      figures.add(Figure.of("standard peers, worst ÷ hash", "", Collections.min(standardOfHash)));
      figures.add(Figure.of("standard peers, marked", "", Collections.max(standardMarked)));
    }
    if (!rxeOfHash.isEmpty()) {
      figures.add(Figure.of("the kernel's devices, worst ÷ hash", "", Collections.min(rxeOfHash)));
      figures.add(Figure.of("the kernel's devices, marked", "", Collections.max(rxeMarked)));
    }
    return figures;
  }

  private static double median(JsonNode cell, String field) {
    List<Double> rounds = new ArrayList<>();
    cell.path(field).forEach(each -> rounds.add(each.isNumber() ? each.asDouble() : Double.NaN));
    return Figure.of(field, "", rounds).median();
  }

  /**
   * Converts the JSON of {@code heddle demo --wan}: the share of steps that passed, and the demo's
   * figures under their names.
   */
  static List<Figure> wan(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    int passed = 0;
    for (JsonNode step : report.path("steps")) {
      passed += step.path("passed").asBoolean() ? 1 : 0;
    }
    if (!report.path("steps").isEmpty()) {
      figures.add(Figure.of(WAN_STEPS, "", (double) passed / report.path("steps").size()));
    }
    for (JsonNode each : report.path("figures")) {
      figures.add(
          Figure.of(
              each.path("name").asText(),
              each.path("unit").asText(),
              each.path("value").asDouble()));
    }
    return figures;
  }

  /**
   * Converts the JSON of {@code heddle simulate --check}: the largest deviation in units of its
   * tolerance, and the number of figures. Returns none if the check had no figure.
   */
  static List<Figure> simulateCheck(JsonNode report) {
    double worst = 0;
    for (JsonNode row : report.path("rows")) {
      double off = Math.abs(row.path("found").asDouble() - row.path("expected").asDouble());
      worst = Math.max(worst, off / row.path("tolerance").asDouble());
    }
    return report.path("rows").isEmpty()
        ? List.of()
        : List.of(
            Figure.of("worst figure off by, in parts of its tolerance", "", worst),
            Figure.of("figures", "", report.path("rows").size()));
  }

  /**
   * Converts the JSON of {@code heddle simulate}: each policy's mean goodput of a GPU ÷ capacity of
   * its ports.
   */
  static List<Figure> simulate(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    for (JsonNode run : report.path("policies")) {
      figures.add(
          Figure.of(run.path("policy").asText() + " ÷ ideal", "", run.path("of_ideal").asDouble()));
    }
    figures.add(Figure.of("GPUs", "", report.path("gpus").asDouble()));
    return figures;
  }

  /**
   * Converts the JSON of {@code heddle simulate --control-plane}: table sizes, and the number of
   * schemes whose count of routes differs from the formula.
   */
  static List<Figure> controlPlane(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    double unequal = 0;
    for (JsonNode scheme : report.path("schemes")) {
      figures.add(
          Figure.of(
              scheme.path("scheme").asText() + ", routes of a card",
              "",
              scheme.path("in_table").asDouble()));
      unequal += scheme.path("is_equal").asBoolean() ? 0 : 1;
    }
    if (!figures.isEmpty()) {
      figures.add(Figure.of("schemes that aren't as the arithmetic", "", unequal));
    }
    return figures;
  }
}
