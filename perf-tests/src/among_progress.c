/*
 * The thread that NCCL calls "Progress". In each pass it visits all ends with operations, and posts one message and
 * tests one request of each end. It yields its core after a pass without progress or a new operation, and sleeps while
 * there are no operations.
 */
#include <pthread.h>
#include <sched.h>

#include "among.h"
#include "report.h"

#define TAG 7
#define PASSES_PER_CHECK 8 /* the same value as NCCL_PROGRESS_APPENDOP_FREQ */

static pthread_t thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t posted = PTHREAD_COND_INITIALIZER;
static int news, stopping; /* guarded by lock */
static _Atomic uint64_t sleeps, yields;

static int slot_is_full(const struct end *end, enum protocol protocol, uint64_t step, int size) {
  if (protocol == SIMPLE) return atomic_load_explicit(&end->tail, memory_order_acquire) > step;
  const _Atomic uint64_t *words = (const _Atomic uint64_t *)slot_of(end, protocol, step);
  for (size_t i = (size_t)size / sizeof *words; i > 0; i--) {
    if (!has_flag_of(atomic_load_explicit(&words[i - 1], memory_order_acquire), step)) return 0;
  }
  return 1;
}

static int test(const struct group *group, struct end *end, uint64_t step, int *size) {
  int done = 0;
  check(net_test(group->net, end->requests[step % STEPS], &done, size), "test");
  return done;
}

static int move_send(const struct group *group, struct end *end, enum protocol protocol, uint64_t last) {
  int any = 0;
  if (end->moved < last && end->moved < end->done + STEPS) {
    void **request = &end->requests[end->moved % STEPS];
    int size = atomic_load_explicit(&end->sizes[end->moved % STEPS], memory_order_acquire);
    if (size >= 0 && slot_is_full(end, protocol, end->moved, size)) {
      *request = NULL;
      check(net_isend(group->net, end->comm, slot_of(end, protocol, end->moved), (size_t)size, TAG,
                      end->memory[protocol], request),
            "isend");
      if (*request != NULL) {
        end->moved++;
        any = 1;
      }
    }
  }
  if (end->done < end->moved && test(group, end, end->done, NULL)) {
    /* The size is reset before the store to head, which marks the slot as free. */
    atomic_store_explicit(&end->sizes[end->done % STEPS], -1, memory_order_relaxed);
    end->done++;
    atomic_store_explicit(&end->head, end->done, memory_order_release);
    any = 1;
  }
  return any;
}

static int move_receive(const struct group *group, struct end *end, enum protocol protocol, uint64_t last) {
  int any = 0;
  if (end->posted < last && end->posted < end->done + STEPS) {
    void *data = slot_of(end, protocol, end->posted), **request = &end->requests[end->posted % STEPS];
    size_t size = protocol == LINES ? LINES_SLOT_BYTES : SIMPLE_SLOT_BYTES;
    int tag = TAG;
    *request = NULL;
    check(net_irecv(group->net, end->comm, 1, &data, &size, &tag, &end->memory[protocol], request), "irecv");
    if (*request != NULL) {
      end->posted++;
      any = 1;
    }
  }
  int size = -1;
  if (end->moved < end->posted && test(group, end, end->moved, &size)) {
    atomic_store_explicit(&end->sizes[end->moved % STEPS], size, memory_order_relaxed);
    end->moved++;
    atomic_store_explicit(&end->tail, end->moved, memory_order_release);
    any = 1;
  }
  while (end->done < end->moved && atomic_load_explicit(&end->head, memory_order_acquire) > end->done) {
    end->done++;
    any = 1;
  }
  return any;
}

/*
 * Advances the current operation of an end. Returns whether there was progress. As in NCCL, an end's next operation
 * begins when the previous one has ended.
 */
static int move(const struct group *group, struct end *end) {
  uint64_t finished = atomic_load_explicit(&end->finished, memory_order_relaxed);
  enum protocol protocol = end->operations[finished % OPERATIONS].protocol;
  uint64_t last = end->base + end->operations[finished % OPERATIONS].steps;
  int any = end->sends ? move_send(group, end, protocol, last) : move_receive(group, end, protocol, last);
  if (end->done == last) {
    end->base = last;
    atomic_store_explicit(&end->finished, finished + 1, memory_order_release);
  }
  if (any) progress();
  return any;
}

static int has_operation(const struct end *end) {
  return atomic_load_explicit(&end->finished, memory_order_relaxed) < end->visible;
}

/*
 * Takes new operations and returns whether there are any. If no operation is in flight, first waits for one or for
 * among_stop_progress.
 */
static int take_operations(const struct group *group, int active) {
  if (active) {
    if (pthread_mutex_trylock(&lock) != 0) return 0;
  } else {
    pthread_mutex_lock(&lock);
    while (!news && !stopping) {
      atomic_fetch_add_explicit(&sleeps, 1, memory_order_relaxed);
      pthread_cond_wait(&posted, &lock);
    }
  }
  int any = news;
  if (any) {
    for (int i = 0; i < group->end_count; i++) group->ends[i]->visible = group->ends[i]->added;
  }
  news = 0;
  pthread_mutex_unlock(&lock);
  return any;
}

static int must_stop(void) {
  pthread_mutex_lock(&lock);
  int stop = stopping && !news;
  pthread_mutex_unlock(&lock);
  return stop;
}

static void *run(void *argument) {
  const struct group *group = argument;
  for (int passes = 0;;) {
    int idle = 1, active = 0;
    for (int i = 0; i < group->end_count; i++) {
      struct end *end = group->ends[i];
      if (!has_operation(end)) continue;
      if (move(group, end)) idle = 0;
      active += has_operation(end);
    }
    if (active == 0 && must_stop()) return NULL;
    if (idle || active == 0 || ++passes == PASSES_PER_CHECK) {
      passes = 0;
      if (!take_operations(group, active)) {
        atomic_fetch_add_explicit(&yields, 1, memory_order_relaxed);
        sched_yield();
      }
    }
  }
}

void among_start_progress(struct group *group) {
  if (pthread_create(&thread, NULL, run, group) != 0 || pthread_setname_np(thread, "progress") != 0)
    fail_with(EXIT_BAD_USAGE, "cannot start a thread");
}

void among_stop_progress(struct group *group) {
  (void)group;
  pthread_mutex_lock(&lock);
  stopping = 1;
  pthread_cond_signal(&posted);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
}

void among_add(struct end *end, uint64_t steps, enum protocol protocol) {
  if (end == NULL) return;
  /* Only this thread writes `added`. */
  while (end->added - atomic_load_explicit(&end->finished, memory_order_acquire) == OPERATIONS) sched_yield();
  pthread_mutex_lock(&lock);
  end->operations[end->added % OPERATIONS].steps = steps;
  end->operations[end->added % OPERATIONS].protocol = protocol;
  end->added++;
  pthread_mutex_unlock(&lock);
}

void among_post(void) {
  pthread_mutex_lock(&lock);
  news = 1;
  pthread_cond_signal(&posted);
  pthread_mutex_unlock(&lock);
}

uint64_t among_sleeps(void) { return atomic_load_explicit(&sleeps, memory_order_relaxed); }

uint64_t among_yields(void) { return atomic_load_explicit(&yields, memory_order_relaxed); }
