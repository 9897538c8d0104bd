#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "shim.h"

/*
 * The virtual machine stops its threads, and finds null references, by faulting on purpose. A handler that someone
 * installs after it (Python's faulthandler.enable(), a crash reporter) takes such a fault for a crash and ends the
 * process. So ours goes in front of theirs: faults that the machine knows are its own end here, all others go on.
 */

static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
enum { FAULT_COUNT = sizeof FAULTS / sizeof FAULTS[0] };

typedef int (*jvm_handler)(int signal_number, void *info, void *user_context, int abort_if_unrecognized);

static jvm_handler handle_in_jvm;
static void *jvm_base; /* load address of libjvm: handlers inside it are the machine's own */

/*
 * Whoever stands behind us, newest first. A handler may run at any moment, so a link is complete before ours is installed
 * and links are never rewritten. Handlers are replaced a handful of times in a process's life; when the pool is used up,
 * things stay as they are.
 */
struct link {
  struct sigaction action;
  struct link *older;
};

#define POOL 64
static struct link pool[POOL];
static int pool_used;
static _Atomic(struct link *) behind[FAULT_COUNT];
static pthread_mutex_t rehook_lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * How often on_fault stands on this thread's stack: a handler behind us may have been installed on top of ours and pass
 * the fault back to us; it then goes to the next older one. Initial-exec, since a signal handler must not allocate.
 */
static _Thread_local int depth __attribute__((tls_model("initial-exec")));

static void pass_on(int number, siginfo_t *info, void *context) {
  struct link *link = NULL;
  for (int i = 0; i < FAULT_COUNT; i++) {
    if (FAULTS[i] == number) {
      link = atomic_load_explicit(&behind[i], memory_order_acquire);
    }
  }
  for (int i = 1; i < depth && link != NULL; i++) {
    link = link->older;
  }
  if (link != NULL && (link->action.sa_flags & SA_SIGINFO) != 0) {
    link->action.sa_sigaction(number, info, context);
  } else if (link != NULL && link->action.sa_handler != SIG_DFL) {
    if (link->action.sa_handler != SIG_IGN) {
      link->action.sa_handler(number);
    }
  } else {
    signal(number, SIG_DFL);
    if (info->si_code <= 0) {
      raise(number); /* sent by someone: returning wouldn't repeat it */
    }
  }
}

static void on_fault(int number, siginfo_t *info, void *context) {
  if (!heddle_in_forked_child && handle_in_jvm(number, info, context, 0)) {
    return;
  }
  depth++;
  pass_on(number, info, context);
  depth--;
}

void heddle_signals_use(jvm_handler handle) {
  Dl_info where;
  if (handle != NULL && dladdr(__extension__(void *) handle, &where) != 0) {
    jvm_base = where.dli_fbase;
    handle_in_jvm = handle;
  }
}

static bool in_jvm(void *handler) {
  Dl_info where;
  return dladdr(handler, &where) != 0 && where.dli_fbase == jvm_base;
}

static void rehook(int index) {
  struct sigaction now;
  if (sigaction(FAULTS[index], NULL, &now) != 0) {
    return;
  }
  bool ours = (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_fault;
  void *handler = __extension__(void *) now.sa_handler;
  bool plain = (now.sa_flags & SA_SIGINFO) == 0 && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN);
  if (ours || (!plain && in_jvm(handler)) || pool_used == POOL) {
    return;
  }
  struct link *link = &pool[pool_used++];
  link->action = now;
  link->older = atomic_load_explicit(&behind[index], memory_order_relaxed);
  atomic_store_explicit(&behind[index], link, memory_order_release);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  if (sigaction(FAULTS[index], &action, NULL) == 0) {
    heddle_log(NCCL_LOG_INFO,
               "signal %d (%s) had been taken over after Java's start; Java's own faults are filtered out "
               "in front of that handler",
               FAULTS[index], strsignal(FAULTS[index]));
  }
}

void heddle_signals_rehook(void) {
  if (handle_in_jvm == NULL || heddle_in_forked_child) {
    return;
  }
  int error = errno;
  if (pthread_mutex_trylock(&rehook_lock) == 0) {
    for (int i = 0; i < FAULT_COUNT; i++) {
      rehook(i);
    }
    pthread_mutex_unlock(&rehook_lock);
  }
  errno = error;
}
