package io.heddle.platform;

import java.util.Collection;
import java.util.Locale;

/** Search for the name that a mistyped one was probably meant to be. */
public final class NearestName {
  private NearestName() {}

  /**
   * Returns the candidate with the smallest Damerau–Levenshtein distance (swapped adjacent letters
   * count once, and case doesn't). Among several, returns the first in iteration order.
   *
   * @throws IllegalArgumentException if there are no candidates
   */
  public static String of(String name, Collection<String> candidates) {
    String nearest = null;
    int least = Integer.MAX_VALUE;
    for (String candidate : candidates) {
      int distance = distance(name, candidate);
      if (distance < least) {
        least = distance;
        nearest = candidate;
      }
    }
    if (nearest == null) {
      throw new IllegalArgumentException("no candidates");
    }
    return nearest;
  }

  /**
   * Returns {@code "; did you mean NAME?"} if a candidate is near: at most one letter in three is
   * wrong, or the name is part of the candidate. Otherwise returns an empty text.
   */
  public static String suggestion(String name, Collection<String> candidates) {
    if (candidates.isEmpty()) {
      return "";
    }
    String nearest = of(name, candidates);
    if (distance(name, nearest) <= (Math.max(name.length(), nearest.length()) + 1) / 3) {
      return "; did you mean " + nearest + "?";
    }
    String bare = name.replaceFirst("^-+", "");
    return candidates.stream()
        .filter(each -> bare.length() >= 3 && each.contains(bare))
        .findFirst()
        .map(each -> "; did you mean " + each + "?")
        .orElse("");
  }

  static int distance(String left, String right) {
    return exactDistance(left.toLowerCase(Locale.ROOT), right.toLowerCase(Locale.ROOT));
  }

  private static int exactDistance(String left, String right) {
    int[][] cost = new int[left.length() + 1][right.length() + 1];
    for (int i = 0; i <= left.length(); i++) {
      for (int j = 0; j <= right.length(); j++) {
        cost[i][j] = i == 0 ? j : j == 0 ? i : cheapest(cost, left, right, i, j);
      }
    }
    return cost[left.length()][right.length()];
  }

  private static int cheapest(int[][] cost, String left, String right, int i, int j) {
    boolean same = left.charAt(i - 1) == right.charAt(j - 1);
    int best = cost[i - 1][j - 1] + (same ? 0 : 1);
    best = Math.min(best, Math.min(cost[i - 1][j], cost[i][j - 1]) + 1);
    boolean swapped =
        i > 1
            && j > 1
            && left.charAt(i - 1) == right.charAt(j - 2)
            && left.charAt(i - 2) == right.charAt(j - 1);
    return swapped ? Math.min(best, cost[i - 2][j - 2] + 1) : best;
  }
}
