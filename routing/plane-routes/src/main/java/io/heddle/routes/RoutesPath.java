package io.heddle.routes;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Default path of the routes file, and its setting. */
public final class RoutesPath {
  /** Default for the daemon and the jobs of a host. */
  public static final Path DEFAULT = Path.of("/run/heddle/routes");

  /** Setting of a job that doesn't follow routes. */
  public static final String NONE = "none";

  private RoutesPath() {}

  /**
   * Returns the file that HEDDLE_ROUTES names.
   *
   * @param setting blank or null if it isn't set
   * @return null if no routes are to be followed
   */
  public static @Nullable Path of(@Nullable String setting) {
    if (setting == null || setting.isBlank()) {
      return DEFAULT;
    }
    return setting.equals(NONE) ? null : Path.of(setting);
  }

  /**
   * Returns the file that a job follows. The operator's weights take precedence over routes.
   *
   * @param routes HEDDLE_ROUTES
   * @param weights HEDDLE_WEIGHTS
   * @return null if it follows none
   */
  public static @Nullable Path followed(@Nullable String routes, @Nullable String weights) {
    return weights == null || weights.isBlank() ? of(routes) : null;
  }
}
