package io.heddle.routes;

import io.heddle.platform.HeddleException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Exception for a routes file that has become shorter than its memory mapping, because another
 * process has truncated it.
 */
public final class RoutesTruncatedException extends HeddleException {
  private static final long serialVersionUID = 1L;

  RoutesTruncatedException(Path path, @Nullable InternalError fault) {
    super("another process has cut the routes file " + path + " short, or its disk is failing");
    if (fault != null) {
      initCause(fault);
    }
  }
}
