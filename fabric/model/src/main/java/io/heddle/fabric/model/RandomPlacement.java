package io.heddle.fabric.model;

/**
 * Statistics of flows that choose their links at random, with the same probability for each link.
 */
public final class RandomPlacement {
  /**
   * Largest number of flows for which the exact probability is computed. With more flows, links
   * count as independent.
   */
  private static final int MOST_EXACT = 4096;

  /**
   * Largest product of flows and links for which the exact probability is computed. It limits the
   * computing time.
   */
  private static final long MOST_STEPS = 1 << 20;

  /** Probability that is too small to affect the result. */
  private static final double NEGLIGIBLE = 1e-20;

  private RandomPlacement() {}

  /**
   * Returns the probability that at least one link has {@code most} flows or more.
   *
   * @param flows number of all flows
   * @param links number of links from which each flow chooses
   * @param most threshold for the number of flows of one link
   * @return probability, 0 to 1
   */
  public static double ofWorstLink(int flows, int links, int most) {
    if (most <= (flows + links - 1) / links) {
      return 1;
    }
    double none =
        flows <= MOST_EXACT && (long) flows * links <= MOST_STEPS
            ? allBelow(flows, links, most)
            : Math.pow(poissonBelow((double) flows / links, most), links);
    return Math.clamp(1 - none, 0, 1);
  }

  /**
   * Returns the range that probably contains the number of flows of the worst link, the one with
   * the most flows.
   *
   * @param flows number of all flows, at least 1
   * @param links number of links from which each flow chooses
   * @param edge probability that the number is below the range, and equally that it is above; 0 to
   *     0.5
   * @return least and most flows of the worst link
   */
  public static Band ofWorstLinks(int flows, int links, double edge) {
    int least = (flows + links - 1) / links;
    while (least < flows && ofWorstLink(flows, links, least + 1) > 1 - edge) {
      least++;
    }
    int most = least;
    while (most < flows && ofWorstLink(flows, links, most + 1) > edge) {
      most++;
    }
    return new Band(least, most);
  }

  /** Range of the worst link's number of flows, both ends included. */
  public record Band(int least, int most) {}

  /** Returns the expected number of links that have at least one flow. */
  public static double usedLinks(int flows, int links) {
    return links * -Math.expm1(flows * Math.log1p(-1.0 / links));
  }

  /*
   * Returns the probability that all links have fewer than {@code most} flows. It adds the links
   * one by one: chance[k] is the probability that the links added so far have k flows in total, and
   * each has fewer than {@code most}. Of the remaining flows, the next link has a binomially
   * distributed number.
   */
  private static double allBelow(int flows, int links, int most) {
    double[] chance = new double[flows + 1];
    chance[0] = 1;
    double[] logFactorial = new double[flows + 1];
    for (int i = 1; i <= flows; i++) {
      logFactorial[i] = logFactorial[i - 1] + Math.log(i);
    }
    for (int link = 0; link < links; link++) {
      double[] next = new double[flows + 1];
      double share = 1.0 / (links - link);
      for (int before = 0; before <= flows; before++) {
        if (chance[before] > NEGLIGIBLE) {
          int left = flows - before;
          for (int own = 0; own < most && own <= left; own++) {
            next[before + own] += chance[before] * binomial(logFactorial, left, own, share);
          }
        }
      }
      chance = next;
    }
    return chance[flows];
  }

  private static double binomial(double[] logFactorial, int of, int own, double share) {
    if (share == 1) {
      return own == of ? 1 : 0;
    }
    return Math.exp(
        logFactorial[of]
            - logFactorial[own]
            - logFactorial[of - own]
            + own * Math.log(share)
            + (of - own) * Math.log1p(-share));
  }

  private static double poissonBelow(double mean, int most) {
    double sum = 0;
    double log = -mean;
    for (int k = 0; k < most; k++) {
      sum += Math.exp(log);
      log += Math.log(mean / (k + 1));
    }
    return Math.min(1, sum);
  }
}
