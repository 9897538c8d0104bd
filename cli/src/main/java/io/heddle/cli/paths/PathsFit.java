package io.heddle.cli.paths;

import io.heddle.fabric.model.LinearFit;
import io.heddle.fabric.model.PortMap;
import io.heddle.platform.HeddleException;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * Fit of a linear hash to a measurement. The hash gives each source port a code, and each code is a
 * path.
 *
 * @param source address of the measuring host
 * @param destination address of the peer
 * @param hop last hop that was used to distinguish paths
 * @param pathCount number of paths
 * @param learned number of ports used for the fit
 * @param heldOut number of ports used for its validation
 * @param correct number of held-out ports whose path was predicted correctly
 * @param accuracy share of held-out ports whose path was predicted correctly
 * @param linear whether the hash is linear: the accuracy is at least 95 %
 * @param base port whose path has the code 0
 * @param flips for each bit of the port, the lowest first, the bits of the code that it flips
 * @param pathOfCode routers of the path of each code; null if no port of the fit has the code
 */
public record PathsFit(
    String source,
    String destination,
    int hop,
    int pathCount,
    int learned,
    int heldOut,
    int correct,
    double accuracy,
    boolean linear,
    int base,
    List<Integer> flips,
    List<@Nullable String> pathOfCode) {
  /**
   * Fits a linear hash to the paths up to a hop.
   *
   * @param hop last hop that counts; 0 for the last hop at which paths differ
   * @throws HeddleException if there is nothing or too little to fit
   */
  public static PathsFit of(PathsMeasurement found, int hop) {
    List<Integer> branchings = found.branchings();
    if (branchings.isEmpty()) {
      throw new HeddleException(
          "all %s measured ports take the same path: there is nothing to fit"
              .formatted(found.ports().size()));
    }
    int last = hop == 0 ? branchings.getLast() : hop;
    SortedMap<Integer, String> paths = found.pathsUpTo(last);
    LinearFit fit = LinearFit.of(paths);
    return new PathsFit(
        found.source(),
        found.destination(),
        last,
        fit.paths(),
        fit.learned(),
        fit.heldOut(),
        fit.correct(),
        fit.accuracy(),
        fit.isLinear(),
        fit.map().base(),
        fit.map().flips(),
        fit.map().paths());
  }

  /**
   * Returns the fit if the hash is linear, else null. Without a fit only the paths of measured
   * ports are known.
   */
  public static @Nullable PathsFit linear(PathsMeasurement found) {
    try {
      PathsFit fit = of(found, 0);
      return fit.linear() ? fit : null;
    } catch (HeddleException notFitted) {
      return null;
    }
  }

  /** Returns the predicted path of a port; null if no port of the fit has the same code. */
  @Nullable String path(int port) {
    return map().path(port);
  }

  private PortMap map() {
    return new PortMap(base, flips, pathOfCode);
  }

  /** Returns the fit as text. */
  public String text() {
    StringBuilder text = new StringBuilder();
    text.append(
        "%s to %s, up to hop %s: %s paths%n".formatted(source, destination, hop, pathCount));
    text.append(
        "fitted to %s ports; of %s held-out ports %s were predicted (%s)%n"
            .formatted(learned, heldOut, correct, PredictionText.percent(accuracy)));
    if (!linear) {
      int unknown = map().unknownPaths();
      return text.append(
              unknown > 0
                  ? "%s paths were met by no port of the fit: measure again, with more --ports%n"
                      .formatted(unknown)
                  : "The hash isn't linear in the port: each port must be measured.%n".formatted())
          .toString();
    }
    text.append("The hash is linear in the port:%n%n  bit of the port flips%n".formatted());
    for (int bit = 0; bit < flips.size(); bit++) {
      text.append("  %15s %5s%n".formatted(bit, bits(flips.get(bit))));
    }
    text.append("%n  code  path%n".formatted());
    for (int code = 0; code < pathOfCode.size(); code++) {
      text.append("  %4s  %s%n".formatted(bits(code), pathOfCode.get(code)));
    }
    return text.append("%nport %s has code 0%n".formatted(base)).toString();
  }

  private String bits(int code) {
    int width = Integer.numberOfTrailingZeros(Integer.highestOneBit(pathCount));
    return Integer.toBinaryString(1 << width | code).substring(1);
  }
}
