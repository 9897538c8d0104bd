/*
 * Deferred work requests, which can't be executed when they are posted: they aren't due yet, the receiver has no
 * buffer, or the peer is unreachable. A thread that polls executes them when they are due; if no thread polls, the
 * thread of this stand-in for libibverbs does. That thread also reads the messages from other processes.
 */
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "transmit.h"

enum { RETRY_WITHOUT_END_NS = 10000000 };

_Atomic uint32_t pending_pairs;
static pthread_mutex_t engine = PTHREAD_MUTEX_INITIALIZER;
static struct queue_pair *pending;       /* guarded by `engine` */
static _Atomic uint64_t thread_wakes_ns; /* time at which this library's thread wakes by itself */

/* ---- one pair; the caller holds its lock `sending` ---- */

/* Returns whether the time `when` has come; 0 means at once. Reads the clock only if `when` is set and `now` is 0. */
static bool is_due(uint64_t when, uint64_t *now) {
  if (when == 0) return true;
  if (*now == 0) *now = now_ns();
  return when <= *now;
}

static void complete(struct queue_pair *pair, const struct work *work, uint32_t status) {
  pair->completed++;
  if (status == IBV_WC_SUCCESS && !pair->signals_all && (work->flags & IBV_SEND_SIGNALED) == 0) {
    pair->unreleased++;
    return;
  }
  static const enum ibv_wc_opcode opcodes[] = {[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
                                               [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
                                               [IBV_WR_SEND] = IBV_WC_SEND,
                                               [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
                                               [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ};
  struct shared_completion completion = {.wc = {.wr_id = work->wr_id,
                                                .status = (enum ibv_wc_status)status,
                                                .opcode = opcodes[work->opcode],
                                                .byte_len = work->length,
                                                .qp_num = pair->qp.qp_num},
                                         .pair = pair->slot,
                                         .epoch = atomic_load_explicit(&pair->shared->epoch, memory_order_relaxed),
                                         .releases = pair->unreleased + 1};
  pair->unreleased = 0;
  push_completion(((struct completion_queue *)pair->qp.send_cq)->shared, &completion, status != IBV_WC_SUCCESS);
}

static struct work *entry(struct queue_pair *pair, uint64_t index) {
  return &pair->work[index % pair->capacity.max_send_wr];
}

/*
 * Completes all posted work of a pair in the error state: requests that were executed successfully with success, all
 * others as flushed.
 */
static void flush_sends(struct queue_pair *pair) {
  while (pair->completed < pair->posted) {
    const struct work *work = entry(pair, pair->completed);
    bool done = pair->completed < pair->delivered && work->status == IBV_WC_SUCCESS;
    complete(pair, work, done ? IBV_WC_SUCCESS : IBV_WC_WR_FLUSH_ERR);
  }
  pair->delivered = pair->completed;
}

static void retry(struct queue_pair *pair, struct work *work, uint64_t *now) {
  uint64_t timeout = ack_timeout_ns(pair->attributes.timeout);
  if (*now == 0) *now = now_ns();
  if (timeout == 0) {
    work->deliver_ns = *now + RETRY_WITHOUT_END_NS;
  } else if (work->give_up_ns == 0) {
    work->give_up_ns = *now + timeout * (pair->attributes.retry_cnt + 1u);
    work->deliver_ns = *now + timeout;
  } else if (*now >= work->give_up_ns) {
    work->status = IBV_WC_RETRY_EXC_ERR;
  } else {
    work->deliver_ns = *now + timeout;
  }
}

static void wait_for_receiver(struct queue_pair *pair, struct work *work, uint64_t wait_ns, uint64_t *now) {
  if (*now == 0) *now = now_ns();
  if (pair->attributes.rnr_retry != 7 && ++work->not_ready > pair->attributes.rnr_retry) {
    work->status = IBV_WC_RNR_RETRY_EXC_ERR;
  } else {
    work->deliver_ns = *now + wait_ns;
  }
}

static void deliver(struct queue_pair *pair, uint64_t *now) {
  struct port *port = port_of(pair->shared->host, pair->shared->device);
  while (!pair->failed && pair->delivered < pair->posted) {
    struct work *work = entry(pair, pair->delivered);
    if (!is_due(work->deliver_ns, now)) return;
    uint64_t wait_ns = 0;
    enum outcome outcome = transmit(pair, work, &wait_ns);
    if (outcome == LOST) retry(pair, work, now);
    if (outcome == NOT_READY) wait_for_receiver(pair, work, wait_ns, now);
    if (outcome != DONE && work->status == IBV_WC_SUCCESS) return;
    /* A read is complete when its data has arrived. Any other request also waits for the acknowledgement. */
    uint64_t latency = atomic_load_explicit(&port->latency_ns, memory_order_relaxed);
    work->complete_ns =
        outcome == DONE && work->deliver_ns != 0 && work->opcode != IBV_WR_RDMA_READ ? work->deliver_ns + latency : 0;
    pair->failed = outcome != DONE;
    pair->delivered++;
  }
}

bool advance(struct queue_pair *pair) {
  uint64_t now = 0;
  uint32_t state = atomic_load_explicit(&pair->shared->state, memory_order_acquire);
  if (state == IBV_QPS_RTS) deliver(pair, &now);
  while (pair->completed < pair->delivered) {
    const struct work *work = entry(pair, pair->completed);
    if (!is_due(work->complete_ns, &now)) break;
    complete(pair, work, work->status);
    if (work->status != IBV_WC_SUCCESS) pair_to_error(pair->shared);
  }
  state = atomic_load_explicit(&pair->shared->state, memory_order_acquire);
  if (state == IBV_QPS_ERR) flush_sends(pair);
  return pair->completed < pair->delivered || (state == IBV_QPS_RTS && pair->delivered < pair->posted);
}

static uint64_t next_due(struct queue_pair *pair) {
  uint64_t due = UINT64_MAX;
  if (pair->completed < pair->delivered) due = entry(pair, pair->completed)->complete_ns;
  if (!pair->failed && pair->delivered < pair->posted) {
    uint64_t delivery = entry(pair, pair->delivered)->deliver_ns;
    if (delivery < due) due = delivery;
  }
  return due;
}

/* ---- all pairs ---- */

/* Advances all pending pairs. The caller holds `engine`. Returns the time at which the next work is due. */
static uint64_t advance_all(void) {
  uint64_t next = UINT64_MAX;
  for (struct queue_pair **at = &pending; *at != NULL;) {
    struct queue_pair *pair = *at;
    pthread_mutex_lock(&pair->sending);
    if (advance(pair)) {
      uint64_t due = next_due(pair);
      if (due < next) next = due;
      at = &pair->next_pending;
    } else {
      pair->pending = false;
      *at = pair->next_pending;
      atomic_fetch_sub(&pending_pairs, 1);
    }
    pthread_mutex_unlock(&pair->sending);
  }
  return next;
}

void engine_progress(void) {
  if (pthread_mutex_trylock(&engine) != 0) return; /* another thread is executing the due requests */
  advance_all();
  pthread_mutex_unlock(&engine);
}

static void ring(void) {
  struct process *process = &fabric->processes[self - 1];
  atomic_fetch_add(&process->bell, 1);
  syscall(SYS_futex, &process->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void engine_later(struct queue_pair *pair) {
  pthread_mutex_lock(&engine);
  pthread_mutex_lock(&pair->sending);
  uint64_t due = next_due(pair);
  if (!pair->pending) {
    pair->pending = true;
    pair->next_pending = pending;
    pending = pair;
    atomic_fetch_add(&pending_pairs, 1);
  }
  pthread_mutex_unlock(&pair->sending);
  pthread_mutex_unlock(&engine);
  if (due < atomic_load(&thread_wakes_ns)) ring();
}

void engine_forget(struct queue_pair *pair) {
  pthread_mutex_lock(&engine);
  for (struct queue_pair **at = &pending; *at != NULL; at = &(*at)->next_pending) {
    if (*at == pair) {
      *at = pair->next_pending;
      pair->pending = false;
      atomic_fetch_sub(&pending_pairs, 1);
      break;
    }
  }
  pthread_mutex_unlock(&engine);
}

/* ---- the thread ---- */

static void read_messages(struct process *process) {
  for (;;) {
    uint32_t head = atomic_load(&process->message_head);
    if (head == atomic_load(&process->message_tail)) return;
    struct message message = process->messages[head % MESSAGES];
    atomic_store(&process->message_head, head + 1);
    deliver_message(&message);
  }
}

static void *serve(void *unused) {
  (void)unused;
  struct process *process = &fabric->processes[self - 1];
  prctl(PR_SET_NAME, "verbs-standin", 0, 0, 0);
  prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
  for (;;) {
    uint32_t bell = atomic_load(&process->bell);
    read_messages(process);
    pthread_mutex_lock(&engine);
    uint64_t next = advance_all();
    atomic_store(&thread_wakes_ns, next);
    pthread_mutex_unlock(&engine);
    struct timespec until = {.tv_sec = (time_t)(next / 1000000000), .tv_nsec = (long)(next % 1000000000)};
    syscall(SYS_futex, &process->bell, FUTEX_WAIT_BITSET, bell, next == UINT64_MAX ? NULL : &until, NULL,
            FUTEX_BITSET_MATCH_ANY);
  }
  return NULL;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int start_error;

static void start(void) {
  /* Blocks all signals in the new thread, so that the program's own threads get them. */
  sigset_t all, before;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  start_error = pthread_create(&thread, NULL, serve, NULL);
  if (start_error == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int engine_start(void) {
  pthread_once(&once, start);
  return start_error;
}
