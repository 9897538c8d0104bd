/*
 * Queue pairs, of reliable connections and of datagrams: creation, destruction, queries. transition.c has the state
 * transitions.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "settings.h"
#include "transmit.h"

static uint32_t take_pair(void) {
  for (uint32_t tries = 0; tries < PAIRS; tries++) {
    uint32_t slot = (uint32_t)(atomic_fetch_add(&fabric->pairs_hint, 1) % PAIRS), nobody = 0;
    if (slot != 0 && atomic_compare_exchange_strong(&fabric->pairs[slot].owner, &nobody, self)) return slot;
  }
  return 0;
}

static int check_request(const struct ibv_pd *pd, const struct ibv_qp_init_attr *wanted) {
  if ((wanted->qp_type != IBV_QPT_RC && wanted->qp_type != IBV_QPT_UD) || wanted->srq != NULL) return EOPNOTSUPP;
  if (wanted->send_cq == NULL || wanted->recv_cq == NULL || wanted->send_cq->context != pd->context ||
      wanted->recv_cq->context != pd->context) {
    return EINVAL;
  }
  const struct ibv_qp_cap *capacity = &wanted->cap;
  if (capacity->max_send_wr > PAIR_ENTRIES || capacity->max_recv_wr > PAIR_ENTRIES ||
      capacity->max_send_sge > MAX_SGE || capacity->max_recv_sge > MAX_SGE || capacity->max_inline_data > MAX_INLINE) {
    return EINVAL;
  }
  return 0;
}

static struct queue_pair *allocate(const struct ibv_qp_cap *capacity) {
  struct queue_pair *pair = calloc(1, sizeof *pair);
  if (pair == NULL) return NULL;
  pair->capacity = *capacity;
  if (pair->capacity.max_send_wr == 0) pair->capacity.max_send_wr = 1;
  pair->work = calloc(pair->capacity.max_send_wr, sizeof *pair->work);
  pair->inline_data = calloc(pair->capacity.max_send_wr, capacity->max_inline_data + 1);
  if (settings_instant()) pair->instant = instant_receives_new();
  if (pair->work == NULL || pair->inline_data == NULL || (settings_instant() && pair->instant == NULL)) {
    free(pair->instant);
    free(pair->work);
    free(pair->inline_data);
    free(pair);
    return NULL;
  }
  pthread_mutex_init(&pair->sending, NULL);
  pthread_spin_init(&pair->receiving, PTHREAD_PROCESS_PRIVATE);
  return pair;
}

static void publish(struct queue_pair *pair, uint32_t slot, const struct ibv_pd *pd) {
  struct shared_pair *shared = &fabric->pairs[slot];
  lock(&shared->lock);
  uint32_t generation = (shared->number >> GENERATION_BITS) + 1;
  if (generation >> (24 - GENERATION_BITS) != 0) generation = 1;
  shared->number = generation << GENERATION_BITS | slot;
  shared->peer = 0;
  shared->type = pair->qp.qp_type;
  shared->gid_index = 0;
  shared->mtu_bytes = DATAGRAM_BYTES;
  shared->host = this_host;
  shared->device = device_of(pd->context);
  shared->send_queue = ((struct completion_queue *)pair->qp.send_cq)->slot;
  shared->receive_queue = ((struct completion_queue *)pair->qp.recv_cq)->slot;
  shared->domain = ((const struct domain *)pd)->number;
  shared->receives = pair->capacity.max_recv_wr;
  shared->established = false;
  atomic_store(&shared->copying, 0);
  atomic_store(&shared->receive_head, 0);
  atomic_store(&shared->receive_tail, 0);
  atomic_fetch_add(&shared->epoch, 1);
  atomic_store(&shared->state, IBV_QPS_RESET);
  unlock(&shared->lock);
  pair->slot = slot;
  pair->shared = shared;
  pair->receives = fabric->receives[slot];
  pair->qp.qp_num = shared->number;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *wanted) {
  if (refused(pd->context, "ibv_create_qp") != 0) return NULL;
  int error = check_request(pd, wanted);
  struct queue_pair *pair = error == 0 ? allocate(&wanted->cap) : NULL;
  uint32_t slot = pair == NULL ? 0 : take_pair();
  if (slot == 0) {
    if (pair != NULL) {
      free(pair->instant);
      free(pair->work);
      free(pair->inline_data);
      free(pair);
    }
    errno = error == 0 ? ENOMEM : error;
    return NULL;
  }
  pair->signals_all = wanted->sq_sig_all != 0;
  pair->qp = (struct ibv_qp){.context = pd->context,
                             .qp_context = wanted->qp_context,
                             .pd = pd,
                             .send_cq = wanted->send_cq,
                             .recv_cq = wanted->recv_cq,
                             .handle = slot,
                             .state = IBV_QPS_RESET,
                             .qp_type = wanted->qp_type};
  pthread_mutex_init(&pair->qp.mutex, NULL);
  pthread_cond_init(&pair->qp.cond, NULL);
  publish(pair, slot, pd);
  wanted->cap = pair->capacity;
  atomic_fetch_add(&((struct domain *)pd)->users, 1);
  atomic_fetch_add(&((struct completion_queue *)wanted->send_cq)->users, 1);
  atomic_fetch_add(&((struct completion_queue *)wanted->recv_cq)->users, 1);
  pthread_mutex_lock(&objects);
  local_pairs[slot] = pair;
  pthread_mutex_unlock(&objects);
  return &pair->qp;
}

/* Waits until no thread is in the middle of polling this completion queue. */
static void wait_for_pollers(struct ibv_cq *cq) {
  struct completion_queue *queue = (struct completion_queue *)cq;
  pthread_spin_lock(&queue->polling);
  pthread_spin_unlock(&queue->polling);
}

int ibv_destroy_qp(struct ibv_qp *qp) {
  struct queue_pair *pair = (struct queue_pair *)qp;
  int error = refused(qp->context, "ibv_destroy_qp");
  if (error != 0) return error;
  if (is_in_a_group(qp->qp_num)) return EBUSY;
  /*
   * From here on, the peer's requests have no effect, and completions of this pair that are still queued are ignored.
   */
  lock(&pair->shared->lock);
  atomic_store(&pair->shared->state, IBV_QPS_RESET);
  atomic_fetch_add(&pair->shared->epoch, 1);
  unlock(&pair->shared->lock);
  engine_forget(pair);
  pthread_mutex_lock(&objects);
  local_pairs[pair->slot] = NULL;
  event_list_forget(&context_of(qp->context)->events, MESSAGE_PAIR_EVENT, pair->slot, qp->qp_num);
  pthread_mutex_unlock(&objects);
  wait_for_pollers(qp->send_cq);
  wait_for_pollers(qp->recv_cq);
  await_acknowledged(&qp->mutex, &qp->cond, &pair->async_events, &qp->events_completed);
  atomic_fetch_sub(&((struct domain *)qp->pd)->users, 1);
  atomic_fetch_sub(&((struct completion_queue *)qp->send_cq)->users, 1);
  atomic_fetch_sub(&((struct completion_queue *)qp->recv_cq)->users, 1);
  madvise(pair->receives, PAIR_ENTRIES * sizeof *pair->receives, MADV_REMOVE);
  atomic_store(&pair->shared->owner, 0);
  pthread_mutex_destroy(&pair->sending);
  pthread_spin_destroy(&pair->receiving);
  pthread_mutex_destroy(&qp->mutex);
  pthread_cond_destroy(&qp->cond);
  free(pair->instant);
  free(pair->work);
  free(pair->inline_data);
  free(pair);
  return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask, struct ibv_qp_init_attr *created) {
  struct queue_pair *pair = (struct queue_pair *)qp;
  int error = refused(qp->context, "ibv_query_qp");
  (void)mask; /* ignored: all attributes are returned, as the verb allows */
  if (error != 0) return error;
  pthread_mutex_lock(&pair->sending);
  *attributes = pair->attributes;
  pthread_mutex_unlock(&pair->sending);
  attributes->qp_state = attributes->cur_qp_state = qp->state = (enum ibv_qp_state)atomic_load(&pair->shared->state);
  attributes->cap = pair->capacity;
  *created = (struct ibv_qp_init_attr){.qp_context = qp->qp_context,
                                       .send_cq = qp->send_cq,
                                       .recv_cq = qp->recv_cq,
                                       .cap = pair->capacity,
                                       .qp_type = qp->qp_type,
                                       .sq_sig_all = pair->signals_all};
  return 0;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp) {
  (void)qp; /* no queue pair of this library has the operations that build work requests (ibv_wr_*) */
  return NULL;
}

int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t flags) {
  (void)qp, (void)opcode, (void)flags;
  return 0; /* 0: the device may write data in any order */
}
