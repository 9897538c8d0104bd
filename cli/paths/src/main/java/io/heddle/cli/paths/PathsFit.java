package io.heddle.cli.paths;

import io.heddle.fabric.model.LinearFit;
import io.heddle.fabric.model.PortMap;
import io.heddle.platform.HeddleException;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * How well a linear hash explains a measurement.
 *
 * @param source address of the measuring host
 * @param destination the peer's address
 * @param hop up to which ways were told apart
 * @param ways how many there are
 * @param learned ports that it was learned from
 * @param heldOut ports that it was judged by
 * @param right held-out ports whose way it foretold
 * @param accuracy their share
 * @param linear whether that is at least 95 %
 * @param base the port whose way has the code 0
 * @param flips for each bit of the port, lowest first, what it flips in the code
 * @param wayOfCode the routers of each code's way; null where no port led there
 */
record PathsFit(
    String source,
    String destination,
    int hop,
    int ways,
    int learned,
    int heldOut,
    int right,
    double accuracy,
    boolean linear,
    int base,
    List<Integer> flips,
    List<@Nullable String> wayOfCode) {
  /**
   * Fits up to a hop.
   *
   * @param hop the last one that counts; 0 for the last at which ways part
   * @throws HeddleException where there is nothing to fit, or too little
   */
  static PathsFit of(PathsMeasurement found, int hop) {
    List<Integer> branchings = found.branchings();
    if (branchings.isEmpty()) {
      throw new HeddleException(
          "all %s measured ports take the same way: there is nothing to fit"
              .formatted(found.ports().size()));
    }
    int last = hop == 0 ? branchings.getLast() : hop;
    SortedMap<Integer, String> ways = found.ways(last);
    LinearFit fit = LinearFit.of(ways);
    return new PathsFit(
        found.source(),
        found.destination(),
        last,
        fit.paths(),
        fit.learned(),
        fit.heldOut(),
        fit.right(),
        fit.accuracy(),
        fit.isLinear(),
        fit.map().base(),
        fit.map().flips(),
        fit.map().paths());
  }

  /** Null where nothing can be fitted well enough: then only measured ports are known. */
  static @Nullable PathsFit linear(PathsMeasurement found) {
    try {
      PathsFit fit = of(found, 0);
      return fit.linear() ? fit : null;
    } catch (HeddleException notFitted) {
      return null;
    }
  }

  /** The way of a port; null where no port that was learned from led to its code. */
  @Nullable String way(int port) {
    return map().path(port);
  }

  private PortMap map() {
    return new PortMap(base, flips, wayOfCode);
  }

  /** For people. */
  String text() {
    StringBuilder text = new StringBuilder();
    text.append("%s to %s, up to hop %s: %s ways%n".formatted(source, destination, hop, ways));
    text.append(
        "learned from %s ports; of %s held out %s were foretold (%s)%n"
            .formatted(learned, heldOut, right, PredictionText.percent(accuracy)));
    if (!linear) {
      int unknown = map().unknownPaths();
      return text.append(
              unknown > 0
                  ? "%s ways were met by no port that it learned from: measure again, with more --ports%n"
                      .formatted(unknown)
                  : "The hash isn't linear in the port: each port must be measured.%n".formatted())
          .toString();
    }
    text.append("The hash is linear in the port:%n%n  bit of the port flips%n".formatted());
    for (int bit = 0; bit < flips.size(); bit++) {
      text.append("  %15s %5s%n".formatted(bit, bits(flips.get(bit))));
    }
    text.append("%n  code  way%n".formatted());
    for (int code = 0; code < wayOfCode.size(); code++) {
      text.append("  %4s  %s%n".formatted(bits(code), wayOfCode.get(code)));
    }
    return text.append("%nport %s has code 0%n".formatted(base)).toString();
  }

  private String bits(int code) {
    int width = Integer.numberOfTrailingZeros(Integer.highestOneBit(ways));
    return Integer.toBinaryString(1 << width | code).substring(1);
  }
}
