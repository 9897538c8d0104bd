package io.heddle.tools.lab;

import io.heddle.platform.HeddleException;

/**
 * Failure to set up or use a lab. The message contains the attempted action and the system's
 * message.
 */
public final class LabException extends HeddleException {
  private static final long serialVersionUID = 1L;

  LabException(String message) {
    super(message);
  }

  LabException(String message, Throwable cause) {
    super(message, cause);
  }
}
