/* Asynchronous events: turns messages from other processes into events for the program. */
#include "cm_interface.h"
#include "transmit.h"

static void deliver_port_event(const struct message *message) {
  for (struct context *context = contexts; context != NULL; context = context->next) {
    uint32_t first = context->device, end = first + fabric->hosts[this_host].ports_each;
    if (message->index >= first && message->index < end) event_list_add(&context->events, message);
  }
}

static struct queue_pair *pair_of(const struct message *message) {
  struct queue_pair *pair = local_pairs[message->index % PAIRS];
  return pair != NULL && pair->qp.qp_num == message->epoch ? pair : NULL;
}

static struct completion_queue *queue_of(const struct message *message) {
  struct completion_queue *queue = local_queues[message->index % QUEUES];
  return queue != NULL && queue->epoch == message->epoch ? queue : NULL;
}

static void deliver_queue_event(const struct message *message) {
  struct completion_queue *queue = queue_of(message);
  if (queue == NULL) return;
  event_list_add(&context_of(queue->cq.context)->events, message);
  for (uint32_t i = 0; i < PAIRS && message->event == IBV_EVENT_CQ_ERR; i++) {
    struct queue_pair *pair = local_pairs[i];
    if (pair == NULL || (pair->qp.send_cq != &queue->cq && pair->qp.recv_cq != &queue->cq)) continue;
    pair_to_error(pair->shared);
  }
}

static _Atomic(standin_cm_listener) groups_lost;

void standin_cm_when_lost(standin_cm_listener listener) { atomic_store(&groups_lost, listener); }

static void report_lost_groups(void) {
  standin_cm_listener listener = atomic_load(&groups_lost);
  if (listener != NULL) listener();
}

static _Atomic(standin_cm_reader) reader;

void standin_cm_on_message(standin_cm_reader other) { atomic_store(&reader, other); }

static void read_subnet_message(uint32_t index) {
  lock(&fabric->manager_lock);
  struct subnet_message message = fabric->messages[index % SUBNET_MESSAGES];
  if (message.to == self) fabric->messages[index % SUBNET_MESSAGES].to = 0;
  unlock(&fabric->manager_lock);
  standin_cm_reader reads = atomic_load(&reader);
  if (message.to == self && reads != NULL) reads(&message);
}

void deliver_message(const struct message *message) {
  if (message->kind == MESSAGE_SUBNET) {
    read_subnet_message(message->index);
    return;
  }
  if (message->kind == MESSAGE_GROUPS_LOST) {
    report_lost_groups();
    return;
  }
  if (message->kind == MESSAGE_COMPLETION) {
    deliver_completion_event(message);
    return;
  }
  pthread_mutex_lock(&objects);
  switch ((enum message_kind)message->kind) {
    case MESSAGE_PORT_EVENT: deliver_port_event(message); break;
    case MESSAGE_PAIR_EVENT:
      if (pair_of(message) != NULL) event_list_add(&context_of(pair_of(message)->qp.context)->events, message);
      break;
    case MESSAGE_QUEUE_EVENT: deliver_queue_event(message); break;
    case MESSAGE_GROUPS_LOST:
    case MESSAGE_SUBNET:
    case MESSAGE_FLUSH: /* flushes the pair's sends; the engine reads the pair's state */
    case MESSAGE_COMPLETION: break;
  }
  pthread_mutex_unlock(&objects);
}

/*
 * Fills in the event for the caller, who must acknowledge it, and counts it for its object. Returns false if the object
 * was destroyed.
 */
static bool report(struct ibv_context *context, const struct message *message, struct ibv_async_event *event) {
  bool known = true;
  pthread_mutex_lock(&objects);
  event->event_type = (enum ibv_event_type)message->event;
  if (message->kind == MESSAGE_PAIR_EVENT) {
    struct queue_pair *pair = pair_of(message);
    known = pair != NULL;
    if (known) {
      event->element.qp = &pair->qp;
      pthread_mutex_lock(&pair->qp.mutex);
      pair->async_events++;
      pthread_mutex_unlock(&pair->qp.mutex);
    }
  } else if (message->kind == MESSAGE_QUEUE_EVENT) {
    struct completion_queue *queue = queue_of(message);
    known = queue != NULL;
    if (known) {
      event->element.cq = &queue->cq;
      pthread_mutex_lock(&queue->cq.mutex);
      queue->async_events++;
      pthread_mutex_unlock(&queue->cq.mutex);
    }
  } else {
    event->element.port_num = (int)(message->index - device_of(context)) + 1;
  }
  pthread_mutex_unlock(&objects);
  return known;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event) {
  struct message message;
  do {
    if (event_list_take(&context_of(context)->events, &message) != 0) return -1;
  } while (!report(context, &message, event));
  return 0;
}

static void acknowledge(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *acknowledged) {
  pthread_mutex_lock(mutex);
  (*acknowledged)++;
  pthread_cond_broadcast(cond);
  pthread_mutex_unlock(mutex);
}

void ibv_ack_async_event(struct ibv_async_event *event) {
  struct ibv_cq *cq = event->element.cq;
  struct ibv_qp *qp = event->element.qp;
  switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed); break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED: acknowledge(&qp->mutex, &qp->cond, &qp->events_completed); break;
    default: break; /* events of a port or device, or of kinds of objects that this library lacks */
  }
}

/*
 * Waits until all events of an object have been acknowledged: as the verbs' manual requires, it can't be destroyed
 * before.
 */
void await_acknowledged(pthread_mutex_t *mutex, pthread_cond_t *cond, const uint32_t *delivered,
                        const uint32_t *acknowledged) {
  pthread_mutex_lock(mutex);
  while (*delivered != *acknowledged) pthread_cond_wait(cond, mutex);
  pthread_mutex_unlock(mutex);
}
