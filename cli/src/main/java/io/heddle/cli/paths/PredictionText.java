package io.heddle.cli.paths;

import io.heddle.fabric.model.PathsPrediction;
import java.util.List;
import java.util.Locale;

/** Formatter of a prediction as text tables. */
public final class PredictionText {
  private static final int MOST_COLUMNS = 16;

  private PredictionText() {}

  public static String of(PathsPrediction prediction) {
    StringBuilder text = new StringBuilder();
    text.append("%s flows%n%n".formatted(prediction.flows()));
    text.append(
        "%-12s %6s %8s %6s %6s %7s  %s%n"
            .formatted("tier", "links", "even", "most", "least", "unused", "hash"));
    for (PathsPrediction.TierLoad tier : prediction.tiers()) {
      text.append(
          String.format(
              Locale.ROOT,
              "%-12s %6d %8.1f %6d %6d %7d  %s%n",
              tier.name(),
              tier.links(),
              tier.even(),
              tier.most(),
              tier.least(),
              tier.unused(),
              tier.hash()));
    }
    text.append('\n');
    for (PathsPrediction.TierLoad tier : prediction.tiers()) {
      text.append(probabilityText(tier));
    }
    for (PathsPrediction.TierPair pair : prediction.pairs()) {
      text.append('\n').append(of(pair));
    }
    return text.toString();
  }

  /*
   * Returns a sentence about a tier's busiest link. The sentence calls the hash worse than random
   * if random choices would be this uneven with a probability below 5 %.
   */
  private static String probabilityText(PathsPrediction.TierLoad tier) {
    String chance = percent(tier.worstProbability());
    return "%s: a link with %s flows or more has a probability of %s with random choices%s%n"
        .formatted(
            tier.name(),
            tier.most(),
            chance,
            tier.worstProbability() < 0.05 ? "; this hash is worse than random" : "");
  }

  private static String of(PathsPrediction.TierPair pair) {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%s × %s: %d combinations are used, %.1f with random choices; polarisation %s%n",
            pair.first(),
            pair.second(),
            pair.used(),
            pair.usedIfRandom(),
            percent(pair.polarisation())));
    if (pair.loads().size() <= MOST_COLUMNS && pair.loads().getFirst().size() <= MOST_COLUMNS) {
      for (List<Integer> row : pair.loads()) {
        row.forEach(flows -> text.append("%6s".formatted(flows == 0 ? "·" : flows)));
        text.append('\n');
      }
    }
    return text.toString();
  }

  /** Returns a share in percent. A positive share below 0.05 % is not shown as 0. */
  public static String percent(double share) {
    if (share > 0 && share < 0.0005) {
      return "less than 0.1 %";
    }
    return String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }
}
