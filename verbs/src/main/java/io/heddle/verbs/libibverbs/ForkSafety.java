package io.heddle.verbs.libibverbs;

import io.heddle.platform.Errno;
import io.heddle.platform.Log;

/**
 * Has the library keep registered pages out of forked children, before anything is registered: on
 * kernels that need it a write of the parent after a fork would otherwise go to a page that the
 * device doesn't know.
 */
final class ForkSafety {
  private static boolean asked;

  private ForkSafety() {}

  static synchronized void establish(Log log) {
    if (asked) {
      return;
    }
    asked = true;
    long answer = Verb.FORK_INIT.attempt();
    if (answer < 0) {
      log.warn(
          "libibverbs: fork_init failed: %s; a process that forks while it sends may send wrong"
              + " bytes",
          Errno.describe((int) -answer));
    }
  }
}
