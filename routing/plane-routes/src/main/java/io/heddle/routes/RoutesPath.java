package io.heddle.routes;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Default path of the routes file, and the settings that change it. */
public final class RoutesPath {
  /** Default path for the route daemon and the jobs of a host. */
  public static final Path DEFAULT = Path.of("/run/heddle/routes");

  /** Value of HEDDLE_ROUTES for a job that doesn't follow routes. */
  public static final String NONE = "none";

  private RoutesPath() {}

  /**
   * Returns the path of the routes file that HEDDLE_ROUTES names.
   *
   * @param setting value of HEDDLE_ROUTES; blank or null if it isn't set
   * @return null if no routes are to be followed
   */
  public static @Nullable Path of(@Nullable String setting) {
    if (setting == null || setting.isBlank()) {
      return DEFAULT;
    }
    return setting.equals(NONE) ? null : Path.of(setting);
  }

  /**
   * Returns the path of the routes file that a job follows. The operator's weights take precedence
   * over routes.
   *
   * @param routes value of HEDDLE_ROUTES
   * @param weights value of HEDDLE_WEIGHTS
   * @return null if the job follows no routes
   */
  public static @Nullable Path followed(@Nullable String routes, @Nullable String weights) {
    return weights == null || weights.isBlank() ? of(routes) : null;
  }
}
