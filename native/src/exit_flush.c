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
 * A program may return from main while its last messages are in flight: a collective's GPU kernel ends once its own
 * receives are done, and NCCL's threads may still be sending. Linux delivers the bytes of a TCP socket after the
 * process's death; the bytes of a user-space device are lost with the process. So an exit handler waits here, as
 * briefly as possible, until the device has delivered them. Other threads, NCCL's included, are alive while exit
 * handlers run.
 *
 * Handlers run in the reverse order of their registration. The shim registers its handler after a successful init, and
 * again with the first connection. CUDA and NCCL register theirs earlier, at their first use, so the shim's handler
 * runs first. Libraries' destructors, the JVM's included, were registered when the libraries were loaded, so they run
 * later. These destructors destroy objects that a garbage collection uses, while Java's threads still run. So no
 * collection may begin after this handler.
 */

#define LONGEST_NS 1000000000L

/* Time reserved for Java to log undelivered messages. This time is subtracted from Java's budget. */
#define LOG_RESERVE_NS 50000000L

#define QUIET_NS 20000000L

/* Longest time, in seconds, that a later exit handler waits for a garbage collection. */
#define HELD_S 1

#define STACK_BYTES (512 * 1024)

static pid_t registered_by;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended;
static bool has_ended;
static struct timespec until;

static int64_t remaining_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (until.tv_sec - now.tv_sec) * 1000000000LL + until.tv_nsec - now.tv_nsec;
}

static void report_end(void) {
  pthread_mutex_lock(&lock);
  has_ended = true;
  pthread_cond_signal(&ended);
  pthread_mutex_unlock(&lock);
}

/*
 * Keeps the JVM from collecting garbage until the process has ended. Collections wait for JNI's critical sections, and
 * entering a critical section waits for a running collection. If host code that runs later needs a collection, it waits
 * for at most HELD_S seconds.
 */
static void hold_garbage_collection(void) {
  JNIEnv *env = NULL;
  if (heddle_vm == NULL || (*heddle_vm)->GetEnv(heddle_vm, (void **)&env, JNI_VERSION_10) != JNI_OK) {
    return; /* the log already says that the thread couldn't enter Java */
  }
  jbyteArray array = (*env)->NewByteArray(env, 1);
  for (void *held; array != NULL && (held = (*env)->GetPrimitiveArrayCritical(env, array, NULL)) != NULL;) {
    report_end();
    sleep(HELD_S);
    (*env)->ReleasePrimitiveArrayCritical(env, array, held, JNI_ABORT);
  }
}

static void *wait_in_java(void *none) {
  (void)none;
  pthread_setname_np(pthread_self(), "heddle-exit");
  heddle_flush_before_exit(remaining_ns() - LOG_RESERVE_NS, QUIET_NS);
  hold_garbage_collection();
  report_end();
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
 * Waits for the last messages when the process exits. A separate thread enters Java, since the host's thread may
 * already be inside Java. If the separate thread blocks (a JVM that is shutting down, a host's logger), the process is
 * delayed by a second at most.
 */
static void on_exit_wait(void) {
  static atomic_flag ran = ATOMIC_FLAG_INIT;
  /* The pid is compared as well, since a child made by the bare system call runs no pthread_atfork() handlers. */
  if (heddle_in_forked_child || getpid() != registered_by || heddle_jvm_has_ended() || atomic_flag_test_and_set(&ran)) {
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
    heddle_log(NCCL_LOG_WARN,
               "can't start the thread that waits for the last messages (%s); messages in flight may be lost",
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
               "the process ends though Java did not confirm within a second that its last messages are delivered");
  }
}

void heddle_exit_flush_install(void) {
  registered_by = getpid();
  if (atexit(on_exit_wait) != 0) {
    heddle_log(NCCL_LOG_WARN, "can't register an exit handler; messages in flight at the process's end may "
                              "be lost");
  }
}

void heddle_exit_flush_connected(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, heddle_exit_flush_install);
}
