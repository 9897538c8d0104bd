package io.heddle.verbs.libibverbs;

import io.heddle.platform.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Remedies for failures that this host's settings cause. */
final class ErrorRemedies {
  private static final Path PROCESS = Path.of("/proc/self");
  private static final String LOCKED = "Max locked memory";
  private static final String CAPABILITIES = "CapEff:";
  private static final int CAP_IPC_LOCK = 14;

  private ErrorRemedies() {}

  /** Returns the remedy as a clause for the end of an error message; empty if there is none. */
  static String forError(Verb verb, int errno) {
    return switch (verb) {
      case OPEN_DEVICE ->
          errno == Errno.EACCES || errno == Errno.EPERM
              ? "this user may not open the device's node in /dev/infiniband: give it read and"
                  + " write access (a container has to be given the node as well)"
              : "";
      case REG_MR, REG_MR_IOVA2, REG_DMABUF_MR, CREATE_CQ, CREATE_QP ->
          errno == Errno.ENOMEM || errno == Errno.EAGAIN ? onLockedMemory(PROCESS) : "";
      default -> "";
    };
  }

  /**
   * Returns the limit of locked memory and how to raise it; empty if memory is unlimited, or the
   * limit doesn't apply to this process.
   *
   * @param process directory of the process under /proc
   */
  static String onLockedMemory(Path process) {
    try {
      if (mayLockAnything(process)) {
        return "";
      }
      for (String line : Files.readAllLines(process.resolve("limits"))) {
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

  private static boolean mayLockAnything(Path process) throws IOException {
    for (String line : Files.readAllLines(process.resolve("status"))) {
      if (line.startsWith(CAPABILITIES)) {
        long held = Long.parseUnsignedLong(line.substring(CAPABILITIES.length()).strip(), 16);
        return (held >>> CAP_IPC_LOCK & 1) != 0;
      }
    }
    return false;
  }
}
