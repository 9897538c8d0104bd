/* Completion queues and their event channels. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "local.h"
#include "settings.h"

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context) {
  if (refused(context, "ibv_create_comp_channel") != 0) return NULL;
  struct channel *channel = calloc(1, sizeof *channel);
  if (channel == NULL || !event_list_open(&channel->events)) {
    free(channel);
    return NULL;
  }
  channel->channel.context = context;
  channel->channel.fd = channel->events.file;
  return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *visible) {
  struct channel *channel = (struct channel *)visible;
  pthread_mutex_lock(&objects);
  bool used = visible->refcnt > 0;
  pthread_mutex_unlock(&objects);
  if (used) return EBUSY;
  event_list_close(&channel->events);
  free(channel);
  return 0;
}

static uint32_t take_queue(void) {
  for (uint32_t slot = 1; slot < QUEUES; slot++) {
    uint32_t nobody = 0;
    if (atomic_compare_exchange_strong(&fabric->queues[slot].owner, &nobody, self)) return slot;
  }
  return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *cq_context,
                             struct ibv_comp_channel *channel, int vector) {
  if (refused(context, "ibv_create_cq") != 0) return NULL;
  if (entries < 1 || entries > settings_completions() || vector < 0 || vector >= context->num_comp_vectors) {
    errno = EINVAL;
    return NULL;
  }
  struct completion_queue *queue = calloc(1, sizeof *queue);
  if (queue != NULL && settings_instant()) queue->instant = instant_queue_new();
  uint32_t slot = queue == NULL || (settings_instant() && queue->instant == NULL) ? 0 : take_queue();
  if (slot == 0) {
    if (queue != NULL) free(queue->instant);
    free(queue);
    errno = ENOMEM;
    return NULL;
  }
  struct shared_queue *shared = &fabric->queues[slot];
  shared->capacity = (uint32_t)entries;
  shared->host = this_host;
  shared->device = device_of(context);
  atomic_store(&shared->lock, 0);
  atomic_store(&shared->armed, DISARMED);
  atomic_store(&shared->overrun, 0);
  atomic_store(&shared->head, 0);
  atomic_store(&shared->tail, 0);
  queue->epoch = atomic_fetch_add(&shared->epoch, 1) + 1;
  queue->shared = shared;
  queue->entries = fabric->completions[slot];
  queue->slot = slot;
  pthread_spin_init(&queue->polling, PTHREAD_PROCESS_PRIVATE);
  queue->cq =
      (struct ibv_cq){.context = context, .channel = channel, .cq_context = cq_context, .handle = slot, .cqe = entries};
  pthread_mutex_init(&queue->cq.mutex, NULL);
  pthread_cond_init(&queue->cq.cond, NULL);
  pthread_mutex_lock(&objects);
  if (channel != NULL) channel->refcnt++;
  local_queues[slot] = queue;
  pthread_mutex_unlock(&objects);
  return &queue->cq;
}

int ibv_resize_cq(struct ibv_cq *cq, int entries) {
  struct completion_queue *queue = (struct completion_queue *)cq;
  int error = refused(cq->context, "ibv_resize_cq");
  if (error != 0) return error;
  if (entries < 1 || entries > settings_completions()) return EINVAL;
  lock(&queue->shared->lock);
  if (atomic_load(&queue->shared->tail) - atomic_load(&queue->shared->head) > (uint64_t)entries) {
    error = EINVAL;
  } else {
    queue->shared->capacity = (uint32_t)entries;
    cq->cqe = entries;
  }
  unlock(&queue->shared->lock);
  return error;
}

int ibv_destroy_cq(struct ibv_cq *cq) {
  struct completion_queue *queue = (struct completion_queue *)cq;
  int error = refused(cq->context, "ibv_destroy_cq");
  if (error != 0) return error;
  pthread_mutex_lock(&objects);
  if (atomic_load(&queue->users) != 0) {
    pthread_mutex_unlock(&objects);
    return EBUSY;
  }
  local_queues[queue->slot] = NULL;
  event_list_forget(&context_of(cq->context)->events, MESSAGE_QUEUE_EVENT, queue->slot, queue->epoch);
  if (cq->channel != NULL) {
    event_list_forget(&((struct channel *)cq->channel)->events, MESSAGE_COMPLETION, queue->slot, queue->epoch);
    cq->channel->refcnt--;
  }
  pthread_mutex_unlock(&objects);
  await_acknowledged(&cq->mutex, &cq->cond, &queue->completion_events, &cq->comp_events_completed);
  await_acknowledged(&cq->mutex, &cq->cond, &queue->async_events, &cq->async_events_completed);
  /* Returns the memory of the entries to the system. */
  madvise(queue->entries, QUEUE_ENTRIES * sizeof *queue->entries, MADV_REMOVE);
  atomic_store(&queue->shared->owner, 0);
  pthread_spin_destroy(&queue->polling);
  pthread_mutex_destroy(&cq->mutex);
  pthread_cond_destroy(&cq->cond);
  free(queue->instant);
  free(queue);
  return 0;
}

/* ---- producing completions, by a thread of any process ---- */

static void notify(struct shared_queue *queue, enum message_kind kind, uint32_t event) {
  uint32_t slot = (uint32_t)(queue - fabric->queues);
  send_message(atomic_load(&queue->owner),
               (struct message){.kind = kind, .event = event, .index = slot, .epoch = atomic_load(&queue->epoch)});
}

void push_completion(struct shared_queue *queue, const struct shared_completion *completion, bool solicited) {
  uint32_t slot = (uint32_t)(queue - fabric->queues);
  lock(&queue->lock);
  uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
  bool full = tail - atomic_load_explicit(&queue->head, memory_order_acquire) >= queue->capacity;
  bool first_overrun = full && atomic_exchange(&queue->overrun, 1) == 0;
  bool wanted = false;
  if (!full && atomic_load_explicit(&queue->overrun, memory_order_relaxed) == 0) {
    fabric->completions[slot][tail % QUEUE_ENTRIES] = *completion;
    /*
     * Sequentially consistent: either the thread that calls arm_queue sees this completion, or this thread sees that
     * the queue is armed.
     */
    atomic_store(&queue->tail, tail + 1);
    uint32_t armed = atomic_load(&queue->armed);
    wanted = armed == ARMED || (armed == ARMED_FOR_SOLICITED && solicited);
    if (wanted) atomic_store(&queue->armed, DISARMED);
  }
  unlock(&queue->lock);
  if (wanted) notify(queue, MESSAGE_COMPLETION, 0);
  if (first_overrun) notify(queue, MESSAGE_QUEUE_EVENT, IBV_EVENT_CQ_ERR);
}

/* ---- consuming completions ---- */

/*
 * Frees the entries that the completion releases in the send or receive queue. Returns false if the completion belongs
 * to a queue pair that was reset or destroyed meanwhile.
 */
static bool release(const struct shared_completion *completion) {
  struct queue_pair *pair = local_pairs[completion->pair];
  if (pair == NULL || atomic_load_explicit(&pair->shared->epoch, memory_order_relaxed) != completion->epoch)
    return false;
  atomic_fetch_add_explicit(completion->receive ? &pair->received : &pair->released, completion->releases,
                            memory_order_release);
  return true;
}

int poll_queue(struct ibv_cq *cq, int count, struct ibv_wc *completions) {
  struct completion_queue *queue = (struct completion_queue *)cq;
  struct shared_queue *shared = queue->shared;
  if (atomic_load_explicit(&pending_pairs, memory_order_relaxed) != 0) engine_progress();
  uint64_t tail = atomic_load_explicit(&shared->tail, memory_order_acquire);
  if (tail == atomic_load_explicit(&shared->head, memory_order_relaxed)) {
    return atomic_load_explicit(&shared->overrun, memory_order_relaxed) == 0 ? 0 : -EIO;
  }
  int found = 0;
  pthread_spin_lock(&queue->polling);
  uint64_t head = atomic_load_explicit(&shared->head, memory_order_relaxed);
  while (found < count && head != tail) {
    const struct shared_completion *entry = &queue->entries[head++ % QUEUE_ENTRIES];
    if (release(entry)) completions[found++] = entry->wc;
  }
  atomic_store_explicit(&shared->head, head, memory_order_release);
  pthread_spin_unlock(&queue->polling);
  return found;
}

int arm_queue(struct ibv_cq *cq, int solicited_only) {
  struct shared_queue *shared = ((struct completion_queue *)cq)->shared;
  if (solicited_only) {
    uint32_t nothing = DISARMED;
    atomic_compare_exchange_strong(&shared->armed, &nothing, ARMED_FOR_SOLICITED);
  } else {
    atomic_store(&shared->armed, ARMED);
  }
  return 0;
}

/* ---- events of channels ---- */

void deliver_completion_event(const struct message *message) {
  pthread_mutex_lock(&objects);
  struct completion_queue *queue = local_queues[message->index % QUEUES];
  if (queue != NULL && queue->epoch == message->epoch && queue->cq.channel != NULL) {
    event_list_add(&((struct channel *)queue->cq.channel)->events, message);
  }
  pthread_mutex_unlock(&objects);
}

/*
 * Returns the event's completion queue, and counts the event, which the caller must acknowledge. Returns NULL if the
 * queue has just been destroyed.
 */
static struct completion_queue *report(const struct message *message) {
  pthread_mutex_lock(&objects);
  struct completion_queue *queue = local_queues[message->index % QUEUES];
  if (queue != NULL && queue->epoch != message->epoch) queue = NULL;
  if (queue != NULL) {
    pthread_mutex_lock(&queue->cq.mutex);
    queue->completion_events++;
    pthread_mutex_unlock(&queue->cq.mutex);
  }
  pthread_mutex_unlock(&objects);
  return queue;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context) {
  struct message message;
  struct completion_queue *queue;
  do {
    if (event_list_take(&((struct channel *)channel)->events, &message) != 0) return -1;
    queue = report(&message);
  } while (queue == NULL);
  *cq = &queue->cq;
  *cq_context = queue->cq.cq_context;
  return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count) {
  if (count == 0) return;
  pthread_mutex_lock(&cq->mutex);
  cq->comp_events_completed += count;
  pthread_cond_broadcast(&cq->cond);
  pthread_mutex_unlock(&cq->mutex);
}
