package io.heddle.routes;

import java.nio.file.Path;

/** Where the routes file lies unless somebody says otherwise. */
public final class RoutesPath {
  /** For the daemon and the jobs of a host alike. */
  public static final Path DEFAULT = Path.of("/run/heddle/routes");

  /** In place of a file, for a job that doesn't follow routes. */
  public static final String NONE = "none";

  private RoutesPath() {}
}
