package io.heddle.platform;

/**
 * A failure on the control path: what failed, on which object, with which values, and what to do
 * about it.
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
