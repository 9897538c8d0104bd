package io.heddle.perftest;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What to do about failures whose errno alone doesn't say. */
final class Remedy {
  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final Pattern LOCKED =
      Pattern.compile("Max locked memory +(unlimited|[0-9]+) +(unlimited|[0-9]+)");

  private Remedy() {}

  /** The same failure with its remedy, where there is a known one. */
  static HeddleException withRemedy(VerbsException failed) {
    return withRemedy(failed, limits());
  }

  static HeddleException withRemedy(VerbsException failed, String limits) {
    String remedy =
        switch (failed.errno()) {
          case Errno.ENOMEM -> lockedMemory(limits);
          case Errno.EACCES, Errno.EPERM ->
              "; this user has no permission on the device: run as root, or as a member of the"
                  + " group that owns /dev/infiniband/uverbs*";
          default -> "";
        };
    return remedy.isEmpty() ? failed : new HeddleException(failed.getMessage() + remedy, failed);
  }

  private static String lockedMemory(String limits) {
    Matcher found = LOCKED.matcher(limits);
    if (!found.find() || found.group(1).equals("unlimited")) {
      return "";
    }
    return "; this process may lock only "
        + Long.parseLong(found.group(1)) / 1024
        + " KiB of memory: raise it with ulimit -l unlimited (LimitMEMLOCK=infinity in a systemd"
        + " unit, memlock in /etc/security/limits.conf)";
  }

  private static String limits() {
    try {
      return Files.readString(LIMITS);
    } catch (IOException unreadable) {
      /* Then the failure is told without a guess at its reason. */
      return "";
    }
  }

  /** What a completion's status usually comes from, as a clause; empty where nothing is usual. */
  static String of(WorkCompletion.Status status) {
    return switch (status) {
      case RETRY_EXCEEDED ->
          ": the peer didn't acknowledge; it ended, can't be reached from this address, or is too"
              + " slow for the timeout (-u)";
      case RECEIVER_NOT_READY_RETRY_EXCEEDED -> ": the peer posted no receive";
      case REMOTE_ACCESS_ERROR ->
          ": the peer's memory doesn't allow it; give both ends the same -s, -q and -a";
      case REMOTE_INVALID_REQUEST_ERROR, LOCAL_LENGTH_ERROR ->
          ": the message doesn't fit the receive; give both ends the same -s and -m";
      case WORK_REQUEST_FLUSHED -> ": an earlier request failed";
      default -> "";
    };
  }
}
