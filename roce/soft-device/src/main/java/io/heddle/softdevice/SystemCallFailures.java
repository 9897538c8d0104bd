package io.heddle.softdevice;

import io.heddle.platform.Errno;
import io.heddle.platform.Log;
import java.util.Queue;

/**
 * Judge of the errors that the data path's system calls return. Most are about one packet or one
 * moment, and repaired by the protocol. Some mean that a call or its descriptor serves nobody any
 * more: then the device has failed, one warning says why, and whoever uses it hears of it. One per
 * device; under the progress lock.
 */
final class SystemCallFailures {
  /**
   * Errors of one socket in a row, none of which is about the moment, until it counts as broken.
   */
  static final int MAX_IN_A_ROW = 64;

  private static final int ENOTSOCK = 88;

  private final Log log;
  private final Queue<AsyncEvent> events;
  private boolean told;

  SystemCallFailures(Log log, Queue<AsyncEvent> events) {
    this.log = log;
    this.events = events;
  }

  /** Whether a call that returns this will never do anything else. */
  static boolean isPermanent(int errno) {
    return errno == Errno.EBADF
        || errno == ENOTSOCK
        || errno == Errno.ENOSYS
        || errno == Errno.EFAULT;
  }

  /** Whether it will be another one in a moment. */
  static boolean isTransient(int errno) {
    return errno == Errno.EAGAIN
        || errno == Errno.EINTR
        || errno == Errno.ENOMEM
        || errno == Errno.ENOBUFS;
  }

  /** The device has failed, by this call on this descriptor; told once. */
  void deviceFailed(String call, int fd, int errno) {
    if (told) {
      return;
    }
    told = true;
    log.warn("soft0 has failed: %s", describe(call, fd, errno));
    events.offer(AsyncEvent.DEVICE_FATAL);
  }

  static String describe(String call, int fd, int errno) {
    return "%s on descriptor %s: %s%s".formatted(call, fd, Errno.describe(errno), causeOf(errno));
  }

  private static String causeOf(int errno) {
    return switch (errno) {
      case Errno.EBADF, ENOTSOCK, Errno.EINVAL ->
          ". It isn't what the plugin opened: something in this process has closed the plugin's"
              + " files (close_range, closefrom), or put others in their place";
      default -> {
        String cause = Errno.causeOfRefusal(errno);
        yield cause.isEmpty() ? "" : "." + cause;
      }
    };
  }
}
