package io.heddle.platform.testing;

import java.nio.file.Files;
import java.nio.file.Path;

/** Checkout that contains the running test, for a module at any depth. */
public final class Checkout {
  /** Root directory: the nearest parent directory that contains the launcher's word list. */
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
