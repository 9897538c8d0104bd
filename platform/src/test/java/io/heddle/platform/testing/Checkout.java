package io.heddle.platform.testing;

import java.nio.file.Files;
import java.nio.file.Path;

/** Paths in the checkout that contains the running test, whose module may be at any depth. */
public final class Checkout {
  /**
   * Root of the checkout: the nearest directory, from the current one upwards, that contains
   * config/build-progress.sh.
   */
  public static final Path ROOT = root();

  private Checkout() {}

  /**
   * Returns the path of a file or directory of the checkout, such as {@code docs/doctor.md}. The
   * file need not exist.
   */
  public static Path path(String inside) {
    return ROOT.resolve(inside);
  }

  private static Path root() {
    for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
      if (Files.exists(at.resolve("config/build-progress.sh"))) {
        return at;
      }
    }
    throw new IllegalStateException("no checkout above " + Path.of("").toAbsolutePath());
  }
}
