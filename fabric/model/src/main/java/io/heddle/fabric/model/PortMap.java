package io.heddle.fabric.model;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Map of a linear hash from source ports to paths: a flipped bit of the port flips the same bits of
 * the path's code, whatever the other bits are.
 *
 * @param base the port whose code is 0
 * @param flips for each bit of the port, lowest first, the bits that it flips in the code
 * @param paths paths by code; null for a code without a measured port
 */
public record PortMap(int base, List<Integer> flips, List<@Nullable String> paths) {
  /** Returns the path of a port; null if its code has no measured port. */
  public @Nullable String path(int port) {
    return paths.get(code(port ^ base, flips));
  }

  /** Returns the number of paths without a measured port, whose users can't be predicted. */
  public int unknownPaths() {
    return (int) paths.stream().filter(Objects::isNull).count();
  }

  /** Returns the change of the code if these bits of the port are flipped. */
  static int code(int flipped, List<Integer> flips) {
    int code = 0;
    for (int bit = 0; bit < flips.size(); bit++) {
      code ^= (flipped >>> bit & 1) == 0 ? 0 : flips.get(bit);
    }
    return code;
  }
}
