#include <pthread.h>
#include <stdatomic.h>

#include "shim.h"

/* Plain: it is written only where a single thread exists, in the child right after fork(). */
bool heddle_in_forked_child = false;

static void in_child(void) {
  heddle_in_forked_child = true;
}

static void install_once(void) {
  pthread_atfork(NULL, NULL, in_child);
}

void heddle_fork_guard_install(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install_once);
}

int heddle_refuse_in_child(void) {
  static atomic_bool told;
  if (!atomic_exchange(&told, true)) {
    heddle_log(NCCL_LOG_WARN, "called in a child of the process that initialised it; neither Java nor RDMA survives "
                              "fork(). Start the child with exec or spawn, or initialise NCCL after fork()");
  }
  return NCCL_INVALID_USAGE;
}
