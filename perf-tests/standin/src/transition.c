/* State transitions: the attributes that each transition requires and permits, and its effect. */
#include <string.h>

#include "transmit.h"

struct step {
  enum ibv_qp_state from, to;
  int needed, allowed;
};

static const struct step of_connections[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
    {IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
    {IBV_QPS_INIT, IBV_QPS_RTR,
     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
     IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPS_RTR, IBV_QPS_RTS,
     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
     IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE},
    {IBV_QPS_RTS, IBV_QPS_RTS, 0,
     IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    {IBV_QPS_SQD, IBV_QPS_RTS, 0,
     IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE},
    {IBV_QPS_SQD, IBV_QPS_SQD, 0,
     IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC |
         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER |
         IBV_QP_PATH_MIG_STATE},
};

static const struct step of_datagrams[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0},
    {IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
    {IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    {IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    {IBV_QPS_SQD, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPS_SQD, IBV_QPS_SQD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
};

static int check_step(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to, int mask) {
  const struct step *steps = type == IBV_QPT_UD ? of_datagrams : of_connections;
  size_t count = type == IBV_QPT_UD ? sizeof of_datagrams / sizeof *steps : sizeof of_connections / sizeof *steps;
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) return (mask & ~(IBV_QP_STATE | IBV_QP_CUR_STATE)) == 0 ? 0 : EINVAL;
  for (size_t i = 0; i < count; i++) {
    const struct step *step = &steps[i];
    if (step->from != from || step->to != to) continue;
    int given = mask & ~IBV_QP_STATE;
    return (given & step->needed) == step->needed && (given & ~(step->needed | step->allowed)) == 0 ? 0 : EINVAL;
  }
  return EINVAL;
}

static bool same_gid(const union ibv_gid *one, const union ibv_gid *other) {
  return memcmp(one, other, sizeof *one) == 0;
}

/* Returns whether any port of the fabric has this address or, on InfiniBand, this LID. */
static bool is_reachable(const struct ibv_ah_attr *path) {
  for (uint32_t host = 0; host < HOSTS; host++) {
    for (uint32_t device = 0; device < fabric->hosts[host].devices; device++) {
      if (path->is_global == 0 && path->dlid == lid_of(host, device)) return true;
      struct port *port = port_of(host, device);
      for (uint32_t i = 0; i < GIDS && path->is_global != 0; i++) {
        if (same_gid(&port->gids[i].gid, &path->grh.dgid)) return true;
      }
    }
  }
  return false;
}

static int check_path(uint32_t device, uint32_t number, const struct ibv_ah_attr *path) {
  static const union ibv_gid none;
  bool ethernet = fabric->hosts[this_host].link_layer == IBV_LINK_LAYER_ETHERNET;
  if (path->port_num != number && path->port_num != 0) return EINVAL;
  if (path->is_global == 0) return ethernet ? EINVAL : is_reachable(path) ? 0 : EINVAL;
  if (path->grh.sgid_index >= GIDS) return EINVAL;
  if (same_gid(&port_of(this_host, device)->gids[path->grh.sgid_index].gid, &none)) return EINVAL;
  /* The kernel returns ETIMEDOUT if neighbour discovery gets no answer. */
  return is_reachable(path) ? 0 : ETIMEDOUT;
}

static int check_values(uint32_t device, uint32_t number, const struct ibv_qp_attr *wanted, int mask) {
  if ((mask & IBV_QP_PKEY_INDEX) != 0 &&
      (wanted->pkey_index >= PKEYS || port_of(this_host, device)->partition_keys[wanted->pkey_index] == 0)) {
    return EINVAL;
  }
  if ((mask & IBV_QP_PATH_MTU) != 0 && (wanted->path_mtu < IBV_MTU_256 || wanted->path_mtu > IBV_MTU_4096))
    return EINVAL;
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0 && wanted->max_rd_atomic > MAX_READS) return EINVAL;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0 && wanted->max_dest_rd_atomic > MAX_READS) return EINVAL;
  if ((mask & IBV_QP_MIN_RNR_TIMER) != 0 && wanted->min_rnr_timer > 31) return EINVAL;
  if ((mask & IBV_QP_TIMEOUT) != 0 && wanted->timeout > 31) return EINVAL;
  if ((mask & IBV_QP_RETRY_CNT) != 0 && wanted->retry_cnt > 7) return EINVAL;
  if ((mask & IBV_QP_RNR_RETRY) != 0 && wanted->rnr_retry > 7) return EINVAL;
  return (mask & IBV_QP_AV) != 0 ? check_path(device, number, &wanted->ah_attr) : 0;
}

/* Stores the attributes of a transition. The caller holds pair->sending and the shared pair's lock. */
static void store(struct queue_pair *pair, const struct ibv_qp_attr *wanted, int mask) {
  struct shared_pair *shared = pair->shared;
  struct ibv_qp_attr *kept = &pair->attributes;
  if ((mask & IBV_QP_PORT) != 0) {
    kept->port_num = wanted->port_num;
    shared->device = port_index(pair->qp.context, wanted->port_num);
  }
  if ((mask & IBV_QP_PKEY_INDEX) != 0) {
    kept->pkey_index = wanted->pkey_index;
    shared->partition_key = port_of(shared->host, shared->device)->partition_keys[wanted->pkey_index];
  }
  if ((mask & IBV_QP_QKEY) != 0) shared->queue_key = kept->qkey = wanted->qkey;
  if ((mask & IBV_QP_ACCESS_FLAGS) != 0) shared->access = kept->qp_access_flags = wanted->qp_access_flags;
  if ((mask & IBV_QP_AV) != 0) {
    kept->ah_attr = wanted->ah_attr;
    shared->gid_index = wanted->ah_attr.grh.sgid_index;
    shared->gid = port_of(shared->host, shared->device)->gids[shared->gid_index].gid;
    shared->peer_gid = wanted->ah_attr.grh.dgid;
    shared->is_global = wanted->ah_attr.is_global != 0;
  }
  if ((mask & IBV_QP_PATH_MTU) != 0) {
    kept->path_mtu = wanted->path_mtu;
    shared->mtu_bytes = 128u << wanted->path_mtu;
  }
  if ((mask & IBV_QP_DEST_QPN) != 0) shared->peer = kept->dest_qp_num = wanted->dest_qp_num & 0xffffff;
  if ((mask & IBV_QP_RQ_PSN) != 0) shared->expected_psn = kept->rq_psn = wanted->rq_psn & 0xffffff;
  if ((mask & IBV_QP_SQ_PSN) != 0) pair->next_psn = kept->sq_psn = wanted->sq_psn & 0xffffff;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0) {
    shared->reads_granted = kept->max_dest_rd_atomic = wanted->max_dest_rd_atomic;
  }
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0) kept->max_rd_atomic = wanted->max_rd_atomic;
  if ((mask & IBV_QP_MIN_RNR_TIMER) != 0) shared->rnr_timer = kept->min_rnr_timer = wanted->min_rnr_timer;
  if ((mask & IBV_QP_TIMEOUT) != 0) kept->timeout = wanted->timeout;
  if ((mask & IBV_QP_RETRY_CNT) != 0) kept->retry_cnt = wanted->retry_cnt;
  if ((mask & IBV_QP_RNR_RETRY) != 0) kept->rnr_retry = wanted->rnr_retry;
}

/*
 * Drops outstanding work and completions that were not polled. The caller holds pair->sending and the shared pair's
 * lock.
 */
static void forget_work(struct queue_pair *pair) {
  struct shared_pair *shared = pair->shared;
  atomic_fetch_add(&shared->epoch, 1);
  atomic_store(&shared->receive_head, 0);
  atomic_store(&shared->receive_tail, 0);
  shared->established = false;
  pair->posted = pair->delivered = pair->completed = 0;
  pair->unreleased = 0;
  pair->failed = false;
  atomic_store(&pair->released, 0);
  atomic_store(&pair->received, 0);
  memset(&pair->attributes, 0, sizeof pair->attributes);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *wanted, int mask) {
  struct queue_pair *pair = (struct queue_pair *)qp;
  struct shared_pair *shared = pair->shared;
  int error = refused(qp->context, "ibv_modify_qp");
  if (error != 0) return error;
  pthread_mutex_lock(&pair->sending);
  pthread_spin_lock(&pair->receiving);
  lock(&shared->lock);
  enum ibv_qp_state from = (enum ibv_qp_state)atomic_load(&shared->state);
  enum ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? wanted->qp_state : from;
  if ((mask & IBV_QP_CUR_STATE) != 0 && wanted->cur_qp_state != from) error = EINVAL;
  if (error == 0) error = check_step(qp->qp_type, from, to, mask);
  uint32_t number = (mask & IBV_QP_PORT) != 0 ? wanted->port_num : shared->device - device_of(qp->context) + 1;
  if (error == 0 && !has_port(number)) error = EINVAL;
  if (error == 0) error = check_values(port_index(qp->context, number), number, wanted, mask);
  if (error == 0) {
    store(pair, wanted, mask);
    if (to == IBV_QPS_RESET) forget_work(pair);
    if (to != IBV_QPS_ERR) atomic_store(&shared->state, to);
  }
  unlock(&shared->lock);
  if (error == 0 && to == IBV_QPS_ERR) pair_to_error(shared);
  pthread_spin_unlock(&pair->receiving);
  bool later = error == 0 && advance(pair);
  pthread_mutex_unlock(&pair->sending);
  if (later) engine_later(pair);
  if (error == 0) qp->state = to;
  return error;
}
