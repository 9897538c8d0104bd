package io.heddle.fabric.model;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a linear hash lays source ports over ways: a flipped bit of the port flips the same bits of
 * the way's code, whatever the other bits are.
 *
 * @param base the port whose code is 0
 * @param flips for each bit of the port, lowest first, what it flips in the code
 * @param ways by code; null for one that was never met
 */
public record PortMap(int base, List<Integer> flips, List<@Nullable String> ways) {
  /** The way of a port; null where its code's was never met. */
  public @Nullable String way(int port) {
    return ways.get(code(port ^ base, flips));
  }

  /** Ways that no learned port led to, so that nobody can foretell who takes them. */
  public int unknownWays() {
    return (int) ways.stream().filter(Objects::isNull).count();
  }

  /** What several flipped bits of a port flip together. */
  static int code(int flipped, List<Integer> flips) {
    int code = 0;
    for (int bit = 0; bit < flips.size(); bit++) {
      code ^= (flipped >>> bit & 1) == 0 ? 0 : flips.get(bit);
    }
    return code;
  }
}
