package io.heddle.tools;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What one plane was asked to carry, and what its interfaces sent.
 *
 * @param sentBytes over all hosts, with headers and acknowledgements, as the kernel counts them
 */
record PlaneShare(int plane, int weight, double askedShare, long sentBytes, double sentShare) {
  static List<PlaneShare> of(int[] weights, List<Long> before, List<Long> after) {
    long totalWeight = 0;
    long totalBytes = 0;
    for (int plane = 0; plane < after.size(); plane++) {
      totalWeight += weights[plane];
      totalBytes += after.get(plane) - before.get(plane);
    }
    List<PlaneShare> shares = new ArrayList<>();
    for (int plane = 0; plane < after.size(); plane++) {
      long sent = after.get(plane) - before.get(plane);
      shares.add(
          new PlaneShare(
              plane + 1,
              weights[plane],
              (double) weights[plane] / totalWeight,
              sent,
              totalBytes == 0 ? 0 : (double) sent / totalBytes));
    }
    return shares;
  }

  static String head() {
    return String.format(Locale.ROOT, "# %6s %8s %8s %18s %8s", "plane", "weight", "asked", "bytes on the wire", "share");
  }

  String line() {
    return String.format(
        Locale.ROOT, "  %6d %8d %7.1f%% %18d %7.1f%%", plane, weight, 100 * askedShare, sentBytes, 100 * sentShare);
  }
}
