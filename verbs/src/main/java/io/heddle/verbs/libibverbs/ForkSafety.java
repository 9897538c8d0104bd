package io.heddle.verbs.libibverbs;

import io.heddle.platform.Errno;
import io.heddle.platform.Log;

/**
 * Fork support of the library (ibv_fork_init), enabled before the first registration. It keeps
 * registered pages out of forked children. Without it, on kernels that don't copy such pages during
 * a fork, the parent's later writes go to new pages, which the device doesn't know.
 */
final class ForkSafety {
  private static boolean established;

  private ForkSafety() {}

  static synchronized void establish(Log log) {
    if (established) {
      return;
    }
    established = true;
    long answer = Verb.FORK_INIT.attempt();
    if (answer < 0) {
      log.warn(
          "libibverbs: fork_init failed: %s; a process that forks while it sends may send wrong"
              + " bytes",
          Errno.describe((int) -answer));
    }
  }
}
