package io.heddle.routes;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Where the routes file lies unless somebody says otherwise. */
public final class RoutesPath {
  /** For the daemon and the jobs of a host alike. */
  public static final Path DEFAULT = Path.of("/run/heddle/routes");

  /** In place of a file, for a job that doesn't follow routes. */
  public static final String NONE = "none";

  private RoutesPath() {}

  /**
   * The file that HEDDLE_ROUTES means.
   *
   * @param setting blank or null where it isn't set
   * @return null where no routes are to be followed
   */
  public static @Nullable Path of(@Nullable String setting) {
    if (setting == null || setting.isBlank()) {
      return DEFAULT;
    }
    return setting.equals(NONE) ? null : Path.of(setting);
  }

  /**
   * The file that a job follows. What the operator says of weights comes before the routes.
   *
   * @param routes HEDDLE_ROUTES
   * @param weights HEDDLE_WEIGHTS
   * @return null where it follows none
   */
  public static @Nullable Path followed(@Nullable String routes, @Nullable String weights) {
    return weights == null || weights.isBlank() ? of(routes) : null;
  }
}
