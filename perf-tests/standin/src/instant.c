/*
 * STANDIN_INSTANT: posting and polling without a transport. A post puts its completions into both ends' queues and
 * returns, without locks, key checks, timing or errors. Only the cost of the caller's own code remains, so that a
 * benchmark can measure it.
 *
 * Both queue pairs are in this process, and one thread at a time posts and polls at both ends. A payload of more than
 * LONGEST_COPY bytes isn't copied.
 */
#include <stdlib.h>
#include <string.h>

#include "local.h"

enum { LONGEST_COPY = 4096 };

struct instant_queue {
  uint64_t head, tail;
  bool overrun;
  struct ibv_wc entries[QUEUE_ENTRIES];
};

struct instant_receives {
  uint64_t head, tail;
  uint64_t ids[PAIR_ENTRIES];
};

struct instant_queue *instant_queue_new(void) {
  return calloc(1, sizeof(struct instant_queue));
}

struct instant_receives *instant_receives_new(void) {
  return calloc(1, sizeof(struct instant_receives));
}

static struct queue_pair *local_peer_of(const struct queue_pair *pair) {
  struct queue_pair *peer = local_pairs[pair->shared->peer % PAIRS];
  return peer != NULL && peer->qp.qp_num == pair->shared->peer ? peer : NULL;
}

static struct ibv_wc *next_entry(struct ibv_cq *cq) {
  struct instant_queue *queue = ((struct completion_queue *)cq)->instant;
  if (queue->tail - queue->head == (uint64_t)cq->cqe) queue->overrun = true;
  return &queue->entries[queue->tail++ % QUEUE_ENTRIES];
}

static int perform(struct queue_pair *pair, struct queue_pair *peer, const struct ibv_send_wr *request) {
  bool immediate = request->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  struct instant_receives *receives = peer->instant;
  if ((!immediate && request->opcode != IBV_WR_RDMA_WRITE) || request->num_sge > 1) return EOPNOTSUPP;
  uint32_t length = request->num_sge == 0 ? 0 : request->sg_list[0].length;
  if (length != 0 && length <= LONGEST_COPY) {
    memcpy((void *)(uintptr_t)request->wr.rdma.remote_addr, (const void *)(uintptr_t)request->sg_list[0].addr, length);
  }
  if (immediate) {
    if (receives->head == receives->tail) return ENOMEM;
    *next_entry(peer->qp.recv_cq) = (struct ibv_wc){.wr_id = receives->ids[receives->head++ % PAIR_ENTRIES],
                                                    .opcode = IBV_WC_RECV_RDMA_WITH_IMM,
                                                    .byte_len = length,
                                                    .imm_data = request->imm_data,
                                                    .qp_num = peer->qp.qp_num,
                                                    .src_qp = pair->qp.qp_num,
                                                    .wc_flags = IBV_WC_WITH_IMM};
  }
  if (pair->signals_all || (request->send_flags & IBV_SEND_SIGNALED) != 0) {
    *next_entry(pair->qp.send_cq) = (struct ibv_wc){
        .wr_id = request->wr_id, .opcode = IBV_WC_RDMA_WRITE, .byte_len = length, .qp_num = pair->qp.qp_num};
  }
  return 0;
}

int instant_post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad) {
  struct queue_pair *pair = (struct queue_pair *)qp;
  struct queue_pair *peer = local_peer_of(pair);
  bool ready = atomic_load_explicit(&pair->shared->state, memory_order_acquire) == IBV_QPS_RTS;
  int error = ready && peer != NULL ? 0 : EINVAL;
  while (error == 0 && request != NULL) {
    error = perform(pair, peer, request);
    if (error == 0) request = request->next;
  }
  if (error != 0) *bad = request;
  return error;
}

int instant_post_receive(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad) {
  struct queue_pair *pair = (struct queue_pair *)qp;
  struct instant_receives *receives = pair->instant;
  for (; request != NULL; request = request->next) {
    if (receives->tail - receives->head == pair->capacity.max_recv_wr) {
      *bad = request;
      return ENOMEM;
    }
    receives->ids[receives->tail++ % PAIR_ENTRIES] = request->wr_id;
  }
  return 0;
}

int instant_poll(struct ibv_cq *cq, int count, struct ibv_wc *completions) {
  struct instant_queue *queue = ((struct completion_queue *)cq)->instant;
  int found = 0;
  if (queue->overrun) return -EIO;
  while (found < count && queue->head != queue->tail)
    completions[found++] = queue->entries[queue->head++ % QUEUE_ENTRIES];
  /* restarts at index 0, so that the caches keep the same few entries */
  if (queue->head == queue->tail) queue->head = queue->tail = 0;
  return found;
}
