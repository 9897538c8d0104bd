package io.heddle.spray;

import io.heddle.platform.HeddleException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Immutable snapshot of the planes' weights, in order of the connection's planes. A weight is a
 * relative rate; a plane with weight 0 gets no chunks. At least one weight is positive, unless
 * every plane is out of use.
 */
public final class PlaneWeights {
  private static final int LARGEST = 1_000_000;

  /*
   * Largest weight derived from routes, to which the routes' largest figure is scaled. A plane's
   * virtual time grows by length × 65,536 ÷ weight, which must not be zero for the shortest
   * message.
   */
  private static final int LARGEST_OF_ROUTES = 4096;

  /*
   * Denominator of shares. Each weight is multiplied by its plane's share in eighths. The products
   * are divided by this number only if the largest weight exceeds LARGEST_TO_REFINE. Otherwise they
   * stay eight times as large, and nothing is rounded. Weights from routes are always small enough
   * for that.
   */
  private static final int SHARES = 8;
  private static final int LARGEST_TO_REFINE = 500_000;

  private final int[] weights;
  private final long total;
  private final String source;
  /* Bit i is set if plane i must not be given anything, even by a policy that ignores weights. */
  private final long outOfUseMask;

  private PlaneWeights(int[] weights, String source) {
    this(weights, source, 0);
  }

  private PlaneWeights(int[] weights, String source, long out) {
    this.weights = weights;
    this.source = source;
    this.outOfUseMask = out;
    long sum = 0;
    for (int weight : weights) {
      sum += weight;
    }
    this.total = sum;
  }

  /** Returns equal weights for all planes. */
  public static PlaneWeights equal(int planes) {
    int[] weights = new int[planes];
    Arrays.fill(weights, 1);
    return new PlaneWeights(weights, "all equal");
  }

  /**
   * Parses HEDDLE_WEIGHTS: a list in order of the planes, {@code 4,2,1,1}, or by key, {@code
   * if:eth0=4,if:eth1=2}. A plane without a key in the list weighs 1.
   *
   * @param value the option's value; null or blank for all equal
   * @param planeKeys keys of the planes, in order
   * @throws HeddleException with the malformed part and the allowed form
   */
  public static PlaneWeights parse(@Nullable String value, List<String> planeKeys) {
    if (value == null || value.isBlank()) {
      return equal(planeKeys.size());
    }
    String[] parts = value.split(",", -1);
    int[] weights = new int[planeKeys.size()];
    if (value.indexOf('=') >= 0) {
      parseByKey(value, parts, planeKeys, weights);
    } else {
      if (parts.length != weights.length) {
        throw new HeddleException(
            "HEDDLE_WEIGHTS="
                + value
                + " has "
                + parts.length
                + " weights, but there are "
                + weights.length
                + " planes: "
                + String.join(", ", planeKeys)
                + "; give one weight per plane, or name them as key=weight");
      }
      for (int i = 0; i < parts.length; i++) {
        weights[i] = weight(value, parts[i]);
      }
    }
    if (Arrays.stream(weights).allMatch(weight -> weight == 0)) {
      throw new HeddleException(
          "HEDDLE_WEIGHTS="
              + value
              + " gives every plane the weight 0; give at least one plane a positive weight");
    }
    return new PlaneWeights(weights, "HEDDLE_WEIGHTS");
  }

  private static void parseByKey(
      String value, String[] parts, List<String> planeKeys, int[] weights) {
    Map<String, Integer> named = new HashMap<>();
    for (String part : parts) {
      int equals = part.lastIndexOf('=');
      if (equals <= 0) {
        throw new HeddleException(
            "HEDDLE_WEIGHTS="
                + value
                + ": '"
                + part
                + "' is not key=weight; either all parts have a key or none has");
      }
      String key = part.substring(0, equals).strip();
      if (!planeKeys.contains(key)) {
        throw new HeddleException(
            "HEDDLE_WEIGHTS="
                + value
                + ": there is no plane '"
                + key
                + "'; the planes are "
                + String.join(", ", planeKeys));
      }
      named.put(key, weight(value, part.substring(equals + 1)));
    }
    for (int i = 0; i < weights.length; i++) {
      weights[i] = named.getOrDefault(planeKeys.get(i), 1);
    }
  }

  private static int weight(String value, String text) {
    String stripped = text.strip();
    int weight = -1;
    if (!stripped.isEmpty()
        && stripped.length() <= 7
        && stripped.chars().allMatch(c -> c >= '0' && c <= '9')) {
      weight = Integer.parseInt(stripped);
    }
    if (weight < 0 || weight > LARGEST) {
      throw new HeddleException(
          "HEDDLE_WEIGHTS="
              + value
              + ": '"
              + text
              + "' is not a whole number from 0 to "
              + LARGEST);
    }
    return weight;
  }

  /** Returns equal weights for all planes, with the given source for display. */
  public static PlaneWeights equal(int planes, String source) {
    int[] weights = new int[planes];
    Arrays.fill(weights, 1);
    return new PlaneWeights(weights, source);
  }

  /**
   * Returns weights in proportion to figures of the routes, such as Mbit/s.
   *
   * @param figures figure of each plane; none is negative and at least one positive
   * @param source origin of the figures, for display
   */
  public static PlaneWeights ofRoutes(int[] figures, String source) {
    int largest = Arrays.stream(figures).max().orElseThrow();
    int[] weights = new int[figures.length];
    for (int i = 0; i < weights.length; i++) {
      weights[i] =
          figures[i] == 0
              ? 0
              : (int) Math.max(1, Math.round((double) figures[i] * LARGEST_OF_ROUTES / largest));
    }
    return new PlaneWeights(weights, source);
  }

  /** Returns these weights with another source for display. */
  public PlaneWeights withSource(String otherSource) {
    return new PlaneWeights(weights, otherSource, outOfUseMask);
  }

  /** Returns whether the other weights are equal to these, plane by plane. */
  public boolean hasSameWeights(PlaneWeights other) {
    return Arrays.equals(weights, other.weights);
  }

  /**
   * Returns the weights of a subset of these planes, in the given order; equal weights if all of
   * them weigh 0.
   */
  public PlaneWeights subset(int[] planeIndexes) {
    int[] subset = new int[planeIndexes.length];
    boolean anyPositive = false;
    for (int i = 0; i < subset.length; i++) {
      subset[i] = weights[planeIndexes[i]];
      anyPositive |= subset[i] > 0;
    }
    return anyPositive ? new PlaneWeights(subset, source) : equal(subset.length);
  }

  /**
   * Returns these weights scaled by each plane's share. If all remaining planes weigh 0, their
   * weights are their shares: a plane without a usable route is better than none.
   *
   * @param eighths each plane's share in eighths, 0 to 8; 0 takes the plane out of use
   */
  public PlaneWeights scaledBy(int[] eighths) {
    if (Arrays.stream(eighths).allMatch(each -> each == SHARES)) {
      return this;
    }
    boolean refine = Arrays.stream(weights).max().orElse(0) <= LARGEST_TO_REFINE;
    int[] shared = new int[weights.length];
    long taken = 0;
    boolean any = false;
    for (int i = 0; i < shared.length; i++) {
      long weight = (long) weights[i] * eighths[i];
      shared[i] = (int) (weight == 0 ? 0 : refine ? weight : Math.max(1, weight / SHARES));
      any |= shared[i] > 0;
      taken |= eighths[i] == 0 ? 1L << i : 0;
    }
    for (int i = 0; i < shared.length && !any; i++) {
      shared[i] = eighths[i];
    }
    return new PlaneWeights(shared, source, taken);
  }

  /** Returns whether this plane must not be given anything. */
  public boolean isOutOfUse(int plane) {
    return (outOfUseMask >>> plane & 1) != 0;
  }

  /** Returns whether no plane may be given anything. */
  public boolean areAllZero() {
    return total == 0;
  }

  public int planes() {
    return weights.length;
  }

  public int weight(int plane) {
    return weights[plane];
  }

  public long total() {
    return total;
  }

  /** Returns the largest weight. */
  int heaviest() {
    int heaviest = 0;
    for (int weight : weights) {
      heaviest = Math.max(heaviest, weight);
    }
    return heaviest;
  }

  /** Returns the origin of the weights, for display. */
  public String source() {
    return source;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < weights.length; i++) {
      text.append(i == 0 ? "" : ",").append(weights[i]);
    }
    return text.toString();
  }
}
