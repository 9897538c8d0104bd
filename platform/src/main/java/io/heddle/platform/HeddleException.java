package io.heddle.platform;

import org.jspecify.annotations.Nullable;

/**
 * Failure on the control path. The message has the action, the object, the values and the remedy.
 *
 * <p>The data path never throws it, and returns named negative codes instead.
 */
public class HeddleException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public HeddleException(String message) {
    super(message);
  }

  public HeddleException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
