#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

/*
 * A program may return from main while its last messages are on their way: a collective's kernel ends with its own
 * receives, and NCCL's threads may still be sending. What was given to a TCP socket leaves after a process's death; what
 * was given to a device in the process dies with it. So exit() waits here, as briefly as it can: the other threads, those
 * of NCCL among them, are alive while exit handlers run.
 *
 * Handlers run in the reverse order of their registration. Ours is registered when init has succeeded, and once more with
 * the first connection, which is after whatever CUDA and NCCL register at their first use. Libraries' destructors were
 * registered when they were loaded, the machine's among them, so they come later.
 */

#define LONGEST_NS 1000000000L

/* What Java has less, so that it can still say what isn't done. */
#define FAREWELL_NS 50000000L

#define QUIET_NS 20000000L

#define STACK_BYTES (512 * 1024)

static pid_t registered_by;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended;
static bool has_ended;
static struct timespec until;

static int64_t left_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (until.tv_sec - now.tv_sec) * 1000000000LL + until.tv_nsec - now.tv_nsec;
}

static void *wait_in_java(void *none) {
  (void)none;
  pthread_setname_np(pthread_self(), "heddle-exit");
  heddle_flush_before_exit(left_ns() - FAREWELL_NS, QUIET_NS);
  pthread_mutex_lock(&lock);
  has_ended = true;
  pthread_cond_signal(&ended);
  pthread_mutex_unlock(&lock);
  return NULL;
}

static int start_waiting(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, wait_in_java, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return error;
}

/*
 * Java is entered by a thread of its own: whatever holds that one up (a machine that stops at this moment, a host's logger)
 * holds up the process for a second and not for ever. The host's thread may be one that is in Java's eyes somewhere else.
 */
static void on_exit_of_process(void) {
  static atomic_flag ran = ATOMIC_FLAG_INIT;
  /* The number of the process, too: a child by the system call alone runs no handlers of pthread_atfork(). */
  if (heddle_in_forked_child || getpid() != registered_by || heddle_machine_has_ended() ||
      atomic_flag_test_and_set(&ran)) {
    return;
  }
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += (until.tv_nsec + LONGEST_NS) / 1000000000L;
  until.tv_nsec = (until.tv_nsec + LONGEST_NS) % 1000000000L;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&ended, &monotonic);
  pthread_condattr_destroy(&monotonic);
  int error = start_waiting();
  if (error != 0) {
    heddle_log(NCCL_LOG_WARN, "the process ends without waiting for its last messages: no thread for that: %s",
               strerror(error));
    return;
  }
  pthread_mutex_lock(&lock);
  while (!has_ended && pthread_cond_timedwait(&ended, &lock, &until) == 0) {
  }
  bool in_time = has_ended;
  pthread_mutex_unlock(&lock);
  if (!in_time) {
    heddle_log(NCCL_LOG_WARN,
               "the process ends though Java hasn't said within a second that its last messages are delivered");
  }
}

void heddle_exit_flush_install(void) {
  registered_by = getpid();
  if (atexit(on_exit_of_process) != 0) {
    heddle_log(NCCL_LOG_WARN,
               "no exit handler can be registered; messages that are on their way when the process ends may "
               "be lost");
  }
}

void heddle_exit_flush_connected(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, heddle_exit_flush_install);
}
