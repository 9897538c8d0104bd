/* Posting: sends go to a queue in this process, receives to a queue in the fabric. */
#include <string.h>

#include "transmit.h"

static bool is_known(enum ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE ||
         opcode == IBV_WR_RDMA_WRITE_WITH_IMM || opcode == IBV_WR_RDMA_READ;
}

static int check_send(const struct queue_pair *pair, const struct ibv_send_wr *request, uint64_t *length) {
  *length = 0;
  if (!is_known(request->opcode)) return EINVAL;
  if (pair->qp.qp_type == IBV_QPT_UD &&
      (request->wr.ud.ah == NULL || (request->opcode != IBV_WR_SEND && request->opcode != IBV_WR_SEND_WITH_IMM))) {
    return EINVAL;
  }
  if (request->num_sge < 0 || (uint32_t)request->num_sge > pair->capacity.max_send_sge) return EINVAL;
  if ((request->send_flags & ~(unsigned)(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE)) !=
      0) {
    return EINVAL;
  }
  for (int i = 0; i < request->num_sge; i++) *length += request->sg_list[i].length;
  if ((request->send_flags & IBV_SEND_INLINE) != 0 &&
      (*length > pair->capacity.max_inline_data || request->opcode == IBV_WR_RDMA_READ)) {
    return EINVAL;
  }
  uint64_t free =
      pair->capacity.max_send_wr - (pair->posted - atomic_load_explicit(&pair->released, memory_order_acquire));
  return free == 0 ? ENOMEM : 0;
}

/*
 * Returns the error status that the request will complete with because of its own fields, or success. Adapters detect
 * such errors only when they process the request.
 */
static uint32_t early_status(const struct queue_pair *pair, const struct ibv_send_wr *request, uint64_t length) {
  if (length > (pair->qp.qp_type == IBV_QPT_UD ? DATAGRAM_BYTES : MAX_MESSAGE)) return IBV_WC_LOC_LEN_ERR;
  if (request->opcode == IBV_WR_RDMA_READ && pair->attributes.max_rd_atomic == 0) return IBV_WC_LOC_QP_OP_ERR;
  return IBV_WC_SUCCESS;
}

static void copy_inline(struct queue_pair *pair, uint64_t slot, const struct ibv_send_wr *request) {
  uint8_t *to = pair->inline_data + slot * (pair->capacity.max_inline_data + 1);
  for (int i = 0; i < request->num_sge; i++) {
    if (request->sg_list[i].length == 0) continue;
    memcpy(to, (const void *)(uintptr_t)request->sg_list[i].addr, request->sg_list[i].length);
    to += request->sg_list[i].length;
  }
}

static void enqueue(struct queue_pair *pair, const struct ibv_send_wr *request, uint64_t length) {
  uint64_t slot = pair->posted % pair->capacity.max_send_wr;
  struct work *work = &pair->work[slot];
  work->wr_id = request->wr_id;
  work->opcode = request->opcode;
  work->flags = request->send_flags;
  work->imm_data = request->imm_data;
  if (pair->qp.qp_type == IBV_QPT_UD) {
    const struct ibv_ah_attr *path = &((const struct address_handle *)request->wr.ud.ah)->path;
    work->remote_number = request->wr.ud.remote_qpn;
    work->remote_key = request->wr.ud.remote_qkey;
    work->source_index = path->grh.sgid_index;
    work->destination = path->grh.dgid;
    work->destination_lid = path->dlid;
    work->is_global = path->is_global;
    work->service_level = path->sl;
    work->hop_limit = path->grh.hop_limit;
    work->traffic_class = path->grh.traffic_class;
  } else {
    work->remote_address = request->wr.rdma.remote_addr;
    work->remote_key = request->wr.rdma.rkey;
  }
  work->length = (uint32_t)length;
  work->num_sge = (uint32_t)request->num_sge;
  work->not_ready = 0;
  work->give_up_ns = 0;
  work->status = early_status(pair, request, length);
  if ((request->send_flags & IBV_SEND_INLINE) != 0) {
    copy_inline(pair, slot, request);
  } else {
    for (int i = 0; i < request->num_sge; i++) work->sge[i] = request->sg_list[i];
  }
  work->deliver_ns = arrival_ns(pair->shared, work);
  pair->posted++;
}

int post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad) {
  struct queue_pair *pair = (struct queue_pair *)qp;
  int error = 0;
  pthread_mutex_lock(&pair->sending);
  uint32_t state = atomic_load_explicit(&pair->shared->state, memory_order_acquire);
  if (state == IBV_QPS_RESET || state == IBV_QPS_INIT || state == IBV_QPS_RTR) error = EINVAL;
  for (; error == 0 && request != NULL; request = request->next) {
    uint64_t length;
    error = check_send(pair, request, &length);
    if (error != 0) break;
    enqueue(pair, request, length);
  }
  if (error != 0) *bad = request;
  bool later = pair->posted != pair->completed && advance(pair);
  pthread_mutex_unlock(&pair->sending);
  if (later) engine_later(pair);
  return error;
}

static int check_receive(const struct queue_pair *pair, const struct ibv_recv_wr *request, uint64_t tail) {
  if (request->num_sge < 0 || (uint32_t)request->num_sge > pair->capacity.max_recv_sge) return EINVAL;
  uint64_t polled = atomic_load_explicit(&pair->received, memory_order_acquire);
  return tail - polled >= pair->capacity.max_recv_wr ? ENOMEM : 0;
}

int post_receive(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad) {
  struct queue_pair *pair = (struct queue_pair *)qp;
  struct shared_pair *shared = pair->shared;
  int error = 0;
  pthread_spin_lock(&pair->receiving);
  if (atomic_load(&shared->state) == IBV_QPS_RESET) error = EINVAL;
  uint64_t tail = atomic_load_explicit(&shared->receive_tail, memory_order_relaxed);
  for (; error == 0 && request != NULL; request = request->next) {
    error = check_receive(pair, request, tail);
    if (error != 0) break;
    struct shared_receive *receive = &pair->receives[tail % PAIR_ENTRIES];
    receive->wr_id = request->wr_id;
    receive->num_sge = (uint32_t)request->num_sge;
    for (int i = 0; i < request->num_sge; i++) receive->sge[i] = request->sg_list[i];
    tail++;
  }
  if (error != 0) *bad = request;
  /*
   * Sequentially consistent: either the thread that moves the pair to the error state sees these receives, or this
   * thread sees the state.
   */
  atomic_store(&shared->receive_tail, tail);
  if (atomic_load(&shared->state) == IBV_QPS_ERR) {
    lock(&shared->lock);
    if (atomic_load(&shared->state) == IBV_QPS_ERR) flush_receives(shared);
    unlock(&shared->lock);
  }
  pthread_spin_unlock(&pair->receiving);
  return error;
}
