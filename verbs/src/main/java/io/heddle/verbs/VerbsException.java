package io.heddle.verbs;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;

/**
 * Failure of a verb on the control path, with the verb's name, the object of the call, and errno.
 */
public final class VerbsException extends HeddleException {
  private static final long serialVersionUID = 1L;

  private final String verb;
  private final int errno;

  /**
   * @param verb name of the verb without prefix, such as {@code modify_qp}
   * @param object object of the call, with the arguments' values
   * @param errno positive errno value
   */
  public VerbsException(String verb, String object, int errno) {
    this(verb, object, errno, "");
  }

  /**
   * @param advice remedy, as a clause; empty for none
   */
  public VerbsException(String verb, String object, int errno, String advice) {
    super(
        verb
            + " on "
            + object
            + " failed: "
            + Errno.describe(errno)
            + (advice.isEmpty() ? "" : "; " + advice));
    this.verb = verb;
    this.errno = errno;
  }

  public String verb() {
    return verb;
  }

  public int errno() {
    return errno;
  }
}
