/*
 * Runs control-path calls on the shim's own threads while the caller waits. Java changes a thread that it attaches:
 * guard pages in its stack, a stack limit, unblocked fault signals. Only threads that move data become Java threads.
 * All other threads, often including the host's first, stay unchanged.
 *
 * Several callers may run at once, and some wait for each other, such as two ranks of one process that connect a group.
 * So each concurrent call has its own thread. One idle thread is kept while a context exists. A hand-over costs two
 * wake-ups.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

/* Stack of a control thread: twice that of Java's own threads (-Xss). */
#define STACK_BYTES (1024 * 1024)

#define MOST_THREADS 1024

/* Longest time that a call waits for the thread of another call if no new thread can be created. */
#define MOST_WAITS_MS 5000

/* A control-path call; the struct is on the caller's stack. */
struct task {
  int (*call)(void *);
  void *argument;
  int result;
  uint32_t ended; /* futex; 1 when the result is stored */
};

struct worker {
  struct task *task; /* task of the worker; NULL asks its thread to end */
  uint32_t has_task; /* futex; 1 when the task is stored */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct worker *idle; /* worker that waits for a task; NULL if none */
static int threads;
static int contexts;

static void wait_for(uint32_t *word) {
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0) { /* pairs with the release store in wake() */
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  }
}

/*
 * The waiter may see the 1 and return before FUTEX_WAKE runs, so the futex's memory may be gone by then. This is
 * harmless: the kernel then finds no waiter.
 */
static void wake(uint32_t *word) {
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Marks this worker idle if no other worker is idle. Returns false if its thread has to end instead. */
static bool become_idle(struct worker *self) {
  pthread_mutex_lock(&lock);
  bool stays = idle == NULL && contexts > 0;
  if (stays) {
    idle = self;
  } else {
    threads--;
  }
  pthread_mutex_unlock(&lock);
  return stays;
}

static void *run_worker(void *argument) {
  struct worker *self = argument;
  pthread_setname_np(pthread_self(), "heddle-call");
  heddle_mark_java_thread();
  do {
    wait_for(&self->has_task);
    struct task *task = self->task;
    if (task == NULL) {
      break;
    }
    self->has_task = 0;
    int result = heddle_enter();
    task->result = result == NCCL_SUCCESS ? task->call(task->argument) : result;
    /* Marks the thread idle before the caller continues, so that the caller's next call finds it. */
    bool stays = become_idle(self);
    wake(&task->ended);
    if (!stays) {
      break;
    }
  } while (true);
  free(self);
  return NULL;
}

/* Creates a thread for the task. The caller holds the lock. Returns 0 or pthread_create's error. */
static int make_worker(struct task *task) {
  struct worker *worker = threads < MOST_THREADS ? malloc(sizeof *worker) : NULL;
  if (worker == NULL) {
    return EAGAIN;
  }
  *worker = (struct worker){.task = task, .has_task = 1};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t all, before;
  sigfillset(&all); /* blocks all signals, since the host's signals are for its own threads */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, run_worker, worker);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (error == 0) {
    threads++;
  } else {
    free(worker);
  }
  return error;
}

/*
 * Gives the task to the idle thread, or else to a new one. Returns 0 or pthread_create's error. others: set to true if
 * there are other threads, one of which may become idle later.
 */
static int dispatch(struct task *task, bool *others) {
  pthread_mutex_lock(&lock);
  int error = 0;
  struct worker *worker = idle;
  idle = NULL;
  if (worker == NULL) {
    error = make_worker(task);
  }
  *others = threads > 0;
  pthread_mutex_unlock(&lock);
  if (worker != NULL) {
    worker->task = task;
    wake(&worker->has_task);
  }
  return error;
}

int heddle_control(int (*call)(void *), void *argument) {
  if (UNLIKELY(heddle_in_forked_child)) {
    return heddle_refuse_in_child();
  }
  if (UNLIKELY(__atomic_load_n(&heddle_vm, __ATOMIC_ACQUIRE) == NULL)) {
    return heddle_refuse_before_init();
  }
  struct task task = {.call = call, .argument = argument};
  bool others;
  int error = dispatch(&task, &others);
  for (int i = 0; error != 0 && others && i < MOST_WAITS_MS; i++) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    error = dispatch(&task, &others);
  }
  if (error != 0) {
    heddle_log(
        NCCL_LOG_WARN,
        "can't create a thread for this call (%s; %s), and none of the %d calls before has ended: raise the limit",
        strerror(error), heddle_thread_limits().text, threads);
    return NCCL_SYSTEM_ERROR;
  }
  wait_for(&task.ended);
  return task.result;
}

void heddle_control_contexts(int more) {
  pthread_mutex_lock(&lock);
  contexts += more;
  struct worker *last = contexts <= 0 ? idle : NULL;
  if (last != NULL) {
    idle = NULL;
    threads--;
  }
  pthread_mutex_unlock(&lock);
  if (last != NULL) {
    last->task = NULL;
    wake(&last->has_task);
  }
}
