package io.heddle.tools.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Share of a plane: the requested share, and the actual one by the plugin's and the kernel's
 * counters.
 *
 * @param plane number of the plane, from 1
 * @param weight requested weight
 * @param expectedShare share that the weights request
 * @param sentBytes number of message bytes over all ranks, by the plugin's counters; null if there
 *     are none
 * @param sentShare share of this plane in the message bytes of all planes; null if there are none
 * @param wireBytes number of bytes that the kernel counted on the plane's interfaces, including
 *     headers, acknowledgements and other traffic; null if planes share an interface
 * @param wireShare share of this plane in the wire bytes of all planes; null if planes share an
 *     interface
 */
public record PlaneShare(
    int plane,
    int weight,
    double expectedShare,
    @Nullable Long sentBytes,
    @Nullable Double sentShare,
    @Nullable Long wireBytes,
    @Nullable Double wireShare) {
  /**
   * Computes the shares of all planes.
   *
   * @param sent message bytes, one value per plane or none
   * @param wire wire bytes, one value per plane or none
   */
  public static List<PlaneShare> of(int[] weights, List<Long> sent, List<Long> wire) {
    long totalWeight = 0;
    for (int weight : weights) {
      totalWeight += weight;
    }
    List<PlaneShare> shares = new ArrayList<>();
    for (int plane = 0; plane < weights.length; plane++) {
      shares.add(
          new PlaneShare(
              plane + 1,
              weights[plane],
              (double) weights[plane] / totalWeight,
              sent.isEmpty() ? null : sent.get(plane),
              share(sent, plane),
              wire.isEmpty() ? null : wire.get(plane),
              share(wire, plane)));
    }
    return shares;
  }

  private static @Nullable Double share(List<Long> bytes, int plane) {
    long total = bytes.stream().mapToLong(Long::longValue).sum();
    return total == 0 ? null : (double) bytes.get(plane) / total;
  }

  public static List<Long> difference(List<Long> before, List<Long> after) {
    List<Long> difference = new ArrayList<>();
    for (int i = 0; i < after.size(); i++) {
      difference.add(after.get(i) - before.get(i));
    }
    return difference;
  }

  static String head() {
    return String.format(
        Locale.ROOT,
        "# %5s %8s %8s %16s %8s %16s %8s",
        "plane",
        "weight",
        "expected",
        "sent (plugin)",
        "share",
        "wire (kernel)",
        "share");
  }

  public String line() {
    return String.format(
        Locale.ROOT,
        "  %5d %8d %8s %16s %8s %16s %8s",
        plane,
        weight,
        percent(expectedShare),
        count(sentBytes),
        percent(sentShare),
        count(wireBytes),
        percent(wireShare));
  }

  private static String count(@Nullable Long bytes) {
    return bytes == null ? "-" : bytes.toString();
  }

  private static String percent(@Nullable Double share) {
    return share == null ? "-" : String.format(Locale.ROOT, "%.1f%%", 100 * share);
  }
}
