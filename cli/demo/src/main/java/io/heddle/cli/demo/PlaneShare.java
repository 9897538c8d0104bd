package io.heddle.cli.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What one plane was asked to carry, and what it carried by two witnesses.
 *
 * @param plane from 1
 * @param weight that was asked for
 * @param askedShare what follows from it
 * @param sentBytes message bytes by the plugin's own counters, over all ranks; null where it left
 *     none
 * @param sentShare of all planes' bytes
 * @param wireBytes bytes that the kernel counted on the plane's interfaces, with headers,
 *     acknowledgements and whatever else was sent there; null where planes share an interface
 * @param wireShare of all planes' bytes
 */
public record PlaneShare(
    int plane,
    int weight,
    double askedShare,
    @Nullable Long sentBytes,
    @Nullable Double sentShare,
    @Nullable Long wireBytes,
    @Nullable Double wireShare) {
  /**
   * @param sent one number per plane, or none
   * @param wire one number per plane, or none
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
        "asked",
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
        percent(askedShare),
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
