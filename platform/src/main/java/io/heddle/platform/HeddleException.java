package io.heddle.platform;

/**
 * Failure on the control path. The message has the action, the object, the values and the remedy.
 *
 * <p>The data path never throws this; it returns named negative codes.
 */
public class HeddleException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public HeddleException(String message) {
    super(message);
  }

  public HeddleException(String message, Throwable cause) {
    super(message, cause);
  }
}
