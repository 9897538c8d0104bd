#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "shim.h"

/* Plain: it is written only where a single thread exists, in the child right after fork(). */
bool heddle_in_forked_child = false;

static void in_child(void) { heddle_in_forked_child = true; }

static void install_once(void) { pthread_atfork(NULL, NULL, in_child); }

void heddle_fork_guard_install(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install_once);
}

/*
 * By write(), not through the host's logger: a lock of it, or of stdio's, that another thread held when the process forked
 * is never given back in the child, which would wait for it for ever.
 */
int heddle_refuse_in_child(void) {
  static const char sentence[] =
      "NET/" HEDDLE_NAME
      ": called in a child of the process that initialised it; neither Java nor RDMA survives fork(). "
      "Start the child with exec or spawn, or initialise NCCL after fork()\n";
  static atomic_bool told;
  if (!atomic_exchange(&told, true)) {
    ssize_t written = write(STDERR_FILENO, sentence, sizeof sentence - 1);
    (void)written; /* where standard error is closed, the result says it alone */
  }
  return NCCL_INVALID_USAGE;
}
