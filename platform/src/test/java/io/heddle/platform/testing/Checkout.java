package io.heddle.platform.testing;

import java.nio.file.Files;
import java.nio.file.Path;

/** The checkout that a test runs in, at whatever depth its module lies. */
public final class Checkout {
  /** Its first folder: the nearest above the test's that has the launcher's words. */
  public static final Path ROOT = root();

  private Checkout() {}

  /**
   * A file or folder of the checkout, such as {@code docs/doctor.md}, whether it is there or not.
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
