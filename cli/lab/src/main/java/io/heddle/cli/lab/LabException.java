package io.heddle.cli.lab;

import io.heddle.platform.HeddleException;

/** A lab that can't be set up or used: what was tried and what the system said. */
public final class LabException extends HeddleException {
  private static final long serialVersionUID = 1L;

  LabException(String message) {
    super(message);
  }

  LabException(String message, Throwable cause) {
    super(message, cause);
  }
}
