package io.heddle.verbs.libibverbs;

import io.heddle.platform.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What a user can do about the failures that are this machine's settings. */
final class Advice {
  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final String LOCKED = "Max locked memory";

  private Advice() {}

  /** A clause for the end of an error message; empty where there is nothing to say. */
  static String on(Verb verb, int errno) {
    return switch (verb) {
      case OPEN_DEVICE ->
          errno == Errno.EACCES || errno == Errno.EPERM
              ? "this user may not open the device's node in /dev/infiniband: give it read and"
                  + " write access (a container has to be given the node as well)"
              : "";
      case REG_MR, REG_MR_IOVA2, REG_DMABUF_MR, CREATE_CQ, CREATE_QP ->
          errno == Errno.ENOMEM || errno == Errno.EAGAIN ? onLockedMemory(LIMITS) : "";
      default -> "";
    };
  }

  /** What the limit is and how to raise it; empty where it is unlimited or can't be read. */
  static String onLockedMemory(Path limits) {
    try {
      for (String line : Files.readAllLines(limits)) {
        if (line.startsWith(LOCKED)) {
          String soft = line.substring(LOCKED.length()).strip().split("\\s+")[0];
          return soft.equals("unlimited")
              ? ""
              : "this process may lock "
                  + soft
                  + " bytes of memory (ulimit -l): raise the limit to unlimited (memlock in"
                  + " /etc/security/limits.conf, LimitMEMLOCK= of a service, --ulimit memlock=-1 of"
                  + " a container)";
        }
      }
    } catch (IOException unreadable) {
      return "the limit of locked memory (ulimit -l) may be too low";
    }
    return "";
  }
}
