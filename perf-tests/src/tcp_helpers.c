#include "tcp_helpers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "nccl_abi.h"
#include "tcp_plugin.h"

#define LEAST_TASK (64 * 1024)

struct task {
  char *data;
  size_t size; /* bytes still to be moved */
  atomic_int *left;
};

/*
 * A data socket and its tasks, in order. A message has at most one task per socket, so there is always room for
 * TCP_REQUESTS messages.
 */
struct lane {
  int fd;
  unsigned long head; /* used by the helper thread only */
  atomic_ulong tail;  /* written by the caller; its release store publishes the tasks to the thread */
  struct task tasks[TCP_REQUESTS];
};

/* Helper thread n, which serves the data sockets (lanes) n, n + threads, and so on. */
struct helper {
  struct tcp_helpers *all;
  int first;
  pthread_mutex_t lock; /* used for the condition variable only */
  pthread_cond_t work;
  pthread_t thread;
};

struct tcp_helpers {
  int sending, threads, running, lanes;
  int next; /* index of the data socket for the next task */
  atomic_int stopping, failed;
  struct helper *helpers;
  struct lane lane[];
};

struct tcp_helpers *tcp_helpers_of(const struct tcp_sockets *sockets, int sending) {
  struct tcp_helpers *all = calloc(1, sizeof *all + (size_t)sockets->count * sizeof *all->lane);
  struct helper *helpers = calloc((size_t)sockets->threads, sizeof *helpers);
  if (all == NULL || helpers == NULL) {
    free(all);
    free(helpers);
    tcp_warn("helper threads");
    return NULL;
  }
  all->sending = sending;
  all->threads = sockets->threads;
  all->lanes = sockets->count;
  all->helpers = helpers;
  for (int i = 0; i < all->lanes; i++) all->lane[i].fd = sockets->data[i];
  for (int i = 0; i < all->threads; i++) {
    helpers[i].all = all;
    helpers[i].first = i;
    pthread_mutex_init(&helpers[i].lock, NULL);
    pthread_cond_init(&helpers[i].work, NULL);
  }
  return all;
}

/* ---- the threads ---- */

static int has_task(struct lane *lane) { return lane->head != atomic_load_explicit(&lane->tail, memory_order_acquire); }

static int any_task(struct helper *own) {
  for (int i = own->first; i < own->all->lanes; i += own->all->threads) {
    if (has_task(&own->all->lane[i])) return 1;
  }
  return 0;
}

static void wait_for_work(struct helper *own) {
  pthread_mutex_lock(&own->lock);
  while (!any_task(own) && !atomic_load(&own->all->stopping)) pthread_cond_wait(&own->work, &own->lock);
  pthread_mutex_unlock(&own->lock);
}

/*
 * Sends or receives bytes by one system call. Returns the number of bytes, 0 if the call would block, or -1 if the
 * other end is gone.
 */
static ssize_t move_some(struct lane *lane, int sending) {
  struct task *task = &lane->tasks[lane->head % TCP_REQUESTS];
  size_t size = task->size > TCP_PIECE ? TCP_PIECE : task->size;
  ssize_t moved = sending ? send(lane->fd, task->data, size, MSG_NOSIGNAL) : recv(lane->fd, task->data, size, 0);
  if (would_block(moved)) return 0;
  if (moved == 0) errno = ECONNRESET;
  if (moved <= 0) return -1;
  task->data += moved;
  task->size -= (size_t)moved;
  if (task->size == 0) {
    atomic_int *left = task->left;
    lane->head++;
    /*
     * Pairs with the acquire in the caller's test: the caller then sees all data, and sees that the task's slot is
     * free.
     */
    atomic_fetch_sub_explicit(left, 1, memory_order_release);
  }
  return moved;
}

static void *help(void *opaque) {
  struct helper *own = opaque;
  struct tcp_helpers *all = own->all;
  while (!atomic_load(&all->stopping)) {
    int busy = 0;
    ssize_t moved = 0;
    for (int i = own->first; i < all->lanes; i += all->threads) {
      if (!has_task(&all->lane[i])) continue;
      ssize_t some = move_some(&all->lane[i], all->sending);
      if (some < 0) {
        tcp_warn(all->sending ? "the receiver is gone" : "the sender is gone");
        atomic_store(&all->failed, 1);
        return NULL;
      }
      moved += some;
      busy = 1;
    }
    if (!busy) {
      wait_for_work(own);
    } else if (moved == 0) {
      sched_yield();
    }
  }
  return NULL;
}

/* ---- the communicator's thread, which calls the helpers ---- */

static void wake(struct helper *helper) {
  pthread_mutex_lock(&helper->lock);
  pthread_cond_signal(&helper->work);
  pthread_mutex_unlock(&helper->lock);
}

static int start(struct tcp_helpers *all) {
  for (; all->running < all->threads; all->running++) {
    struct helper *helper = &all->helpers[all->running];
    errno = pthread_create(&helper->thread, NULL, help, helper);
    if (errno != 0) return tcp_warn("a helper thread");
    pthread_setname_np(helper->thread, "tcpref-helper");
  }
  return NCCL_SUCCESS;
}

int tcp_helpers_submit(struct tcp_helpers *all, char *data, size_t size, atomic_int *left) {
  int result = start(all);
  if (result != NCCL_SUCCESS) return result;
  size_t share = (size + (size_t)all->lanes - 1) / (size_t)all->lanes;
  size_t piece = share < LEAST_TASK ? LEAST_TASK : share;
  int tasks = (int)((size + piece - 1) / piece), first = all->next;
  atomic_store_explicit(left, tasks, memory_order_relaxed);
  for (int i = 0; i < tasks; i++) {
    struct lane *lane = &all->lane[all->next];
    size_t rest = size - (size_t)i * piece;
    unsigned long tail = atomic_load_explicit(&lane->tail, memory_order_relaxed);
    lane->tasks[tail % TCP_REQUESTS] = (struct task){data + (size_t)i * piece, rest < piece ? rest : piece, left};
    atomic_store_explicit(&lane->tail, tail + 1, memory_order_release);
    all->next = (all->next + 1) % all->lanes;
  }
  for (int i = 0; i < tasks && i < all->threads; i++) wake(&all->helpers[(first + i) % all->threads]);
  return NCCL_SUCCESS;
}

int tcp_helpers_failed(const struct tcp_helpers *all) { return atomic_load(&all->failed); }

void tcp_helpers_end(struct tcp_helpers *all) {
  atomic_store(&all->stopping, 1);
  for (int i = 0; i < all->running; i++) {
    wake(&all->helpers[i]);
    pthread_join(all->helpers[i].thread, NULL);
  }
  for (int i = 0; i < all->threads; i++) {
    pthread_cond_destroy(&all->helpers[i].work);
    pthread_mutex_destroy(&all->helpers[i].lock);
  }
  free(all->helpers);
  free(all);
}
