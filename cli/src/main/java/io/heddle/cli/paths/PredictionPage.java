package io.heddle.cli.paths;

import io.heddle.cli.kit.page.HeatMap;
import io.heddle.cli.kit.page.LinePlot;
import io.heddle.cli.kit.page.ReportPage;
import io.heddle.fabric.model.PathsPrediction;
import io.heddle.fabric.model.WorstLinks;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * HTML page of a prediction: the table, the worst link of each tier, and flows by the links of each
 * pair of tiers.
 */
final class PredictionPage {
  private static final String LEVEL = "a model of the switches' hashes";

  private PredictionPage() {}

  static String html(PathsPrediction prediction, List<WorstLinks> worst) {
    ReportPage page =
        new ReportPage(
            String.format(
                Locale.ROOT,
                "%,d flows over %s",
                prediction.flows(),
                String.join(", ", prediction.tiers().stream().map(each -> each.name()).toList())));
    page.table(PredictionText.of(prediction));
    for (WorstLinks each : worst) {
      page.figure(
          "Worst link of " + each.tier() + " against the number of queue pairs",
          LEVEL,
          String.format(
              Locale.ROOT,
              "Flows on the busiest of %,d links, in multiples of the even share; 1 is best. With"
                  + " random choices nine of ten cases lie in the grey band.",
              each.links()),
          plot(each).svg());
    }
    for (PathsPrediction.TierPair each : prediction.pairs()) {
      page.figure(
          each.first() + " × " + each.second(),
          LEVEL,
          String.format(
              Locale.ROOT,
              "Flows by the link that %s chose and the link that %s chose next. Of %,d combinations"
                  + " %,d are used; with random choices it would be %.1f. One cell per row is"
                  + " polarisation: the first choice determines the second.",
              each.first(),
              each.second(),
              (long) each.loads().size() * each.loads().getFirst().size(),
              each.used(),
              each.usedIfRandom()),
          HeatMap.svg(
              new HeatMap.Labels(
                  each.first() + " by " + each.second(),
                  "link of " + each.first(),
                  "link of " + each.second(),
                  "no flow",
                  "most"),
              shares(each.loads())));
    }
    return page.html();
  }

  private static LinePlot plot(WorstLinks tier) {
    double[] flows = values(tier, WorstLinks.Point::flows);
    return new LinePlot("queue pairs", "worst link ÷ even share", false)
        .band(
            "luck",
            flows,
            values(tier, WorstLinks.Point::randomLow),
            values(tier, WorstLinks.Point::randomHigh))
        .add(tier.tier(), flows, values(tier, WorstLinks.Point::worst));
  }

  private static double[] values(WorstLinks tier, ToDoubleFunction<WorstLinks.Point> of) {
    return tier.points().stream().mapToDouble(of).toArray();
  }

  /*
   * Returns the flows of each combination as shares of the flows of the combination with the most.
   */
  private static List<List<Double>> shares(List<List<Integer>> loads) {
    double most = loads.stream().flatMap(List::stream).mapToInt(each -> each).max().orElseThrow();
    return loads.stream().map(row -> row.stream().map(each -> each / most).toList()).toList();
  }
}
