package io.heddle.fabric.model;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Map from source ports to paths by a linear hash. The hash maps a port to a code, and each code
 * stands for one path. A flipped bit of the port flips the same bits of the code, independent of
 * the port's other bits.
 *
 * @param base port whose path has code 0
 * @param flips for each bit of the port, lowest first, the bits that it flips in the code
 * @param paths path of each code; null if the path is unknown
 */
public record PortMap(int base, List<Integer> flips, List<@Nullable String> paths) {
  /** Returns the path of a port; null if its code's path is unknown. */
  public @Nullable String path(int port) {
    return paths.get(code(port ^ base, flips));
  }

  /**
   * Returns the number of codes whose path is unknown. The path of a port with such a code can't be
   * predicted.
   */
  public int unknownPaths() {
    return (int) paths.stream().filter(Objects::isNull).count();
  }

  /** Returns the bits of the code that change if these bits of the port are flipped. */
  static int code(int flipped, List<Integer> flips) {
    int code = 0;
    for (int bit = 0; bit < flips.size(); bit++) {
      code ^= (flipped >>> bit & 1) == 0 ? 0 : flips.get(bit);
    }
    return code;
  }
}
