package io.heddle.platform;

/** Failure of a system call or verb, with its name and errno. */
public final class SystemCallException extends HeddleException {
  private static final long serialVersionUID = 1L;

  private final String call;
  private final int errno;

  /**
   * Creates an exception.
   *
   * @param call name of the function as in its manual page, with the object, such as a path
   * @param errno positive errno value
   */
  public SystemCallException(String call, int errno) {
    super(call + " failed: " + Errno.describe(errno) + causeOf(call, errno));
    this.call = call;
    this.errno = errno;
  }

  /*
   * Returns a sentence about filters of system calls if one has probably refused the call;
   * otherwise an empty text. EPERM may also mean that access to an object was denied. So it counts
   * as a filter's refusal only for calls that access no object.
   */
  private static String causeOf(String call, int errno) {
    boolean opens = call.startsWith("socket(") || call.startsWith("epoll_create");
    boolean isExplained = errno == Errno.ENOSYS || opens;
    String cause = isExplained ? Errno.causeOfRefusal(errno) : "";
    return cause.isEmpty() ? "" : "." + cause;
  }

  /**
   * Returns the result of a call unless it is an error.
   *
   * @param call name of the function, as for the constructor
   * @param result result of the call; a negated errno for an error
   * @throws SystemCallException if the result is an error
   */
  public static int check(String call, int result) {
    if (result < 0) {
      throw new SystemCallException(call, -result);
    }
    return result;
  }

  public String call() {
    return call;
  }

  public int errno() {
    return errno;
  }
}
