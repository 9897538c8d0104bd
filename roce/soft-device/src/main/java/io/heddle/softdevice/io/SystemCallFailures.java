package io.heddle.softdevice.io;

import io.heddle.platform.Errno;
import io.heddle.platform.Log;
import java.util.Queue;

/**
 * Classifier of errors from the data path's system calls. Most errors concern one packet or are
 * transient, and the protocol recovers. A permanent error means that a system call or its
 * descriptor is unusable. The device then fails, with one warning and one asynchronous event. Each
 * device has one classifier, used under the progress lock.
 */
public final class SystemCallFailures {
  /** Number of consecutive non-transient errors after which a socket counts as broken. */
  static final int MAX_IN_A_ROW = 64;

  private static final int ENOTSOCK = 88;

  private final Log log;
  private final Queue<AsyncEvent> events;
  private boolean reported;

  public SystemCallFailures(Log log, Queue<AsyncEvent> events) {
    this.log = log;
    this.events = events;
  }

  /** Returns whether the error is permanent. */
  static boolean isPermanent(int errno) {
    return errno == Errno.EBADF
        || errno == ENOTSOCK
        || errno == Errno.ENOSYS
        || errno == Errno.EFAULT;
  }

  /** Returns whether the error is transient. */
  static boolean isTransient(int errno) {
    return errno == Errno.EAGAIN
        || errno == Errno.EINTR
        || errno == Errno.ENOMEM
        || errno == Errno.ENOBUFS;
  }

  /** Reports once that this call on this descriptor has made the device fail. */
  public void deviceFailed(String call, int fd, int errno) {
    if (reported) {
      return;
    }
    reported = true;
    log.warn("soft0 has failed: %s", describe(call, fd, errno));
    events.offer(AsyncEvent.DEVICE_FATAL);
  }

  static String describe(String call, int fd, int errno) {
    return "%s on descriptor %s: %s%s".formatted(call, fd, Errno.describe(errno), causeOf(errno));
  }

  private static String causeOf(int errno) {
    return switch (errno) {
      case Errno.EBADF, ENOTSOCK, Errno.EINVAL ->
          ". The descriptor isn't the plugin's any more: something in this process has closed the"
              + " plugin's files (close_range, closefrom), or put others in their place";
      default -> {
        String cause = Errno.causeOfRefusal(errno);
        yield cause.isEmpty() ? "" : "." + cause;
      }
    };
  }
}
