/*
 * A net plugin over verbs in C: the baseline for the cost of Heddle's calls. For a message, it does the same steps as
 * Heddle.
 *
 * A receive writes a clear-to-send entry into the sender's ring. A send matches the entry and is cut into chunks. Each
 * chunk goes as an RDMA WRITE WITH IMMEDIATE over the plane with the least traffic. test() polls, counts chunks and
 * releases messages in order. Both ends are in one process, and there is no failover.
 *
 *   VERBSREF_PLANES   number of the first device's addresses to use, one queue pair on each (1)
 */
#include "verbs_plugin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "one_device.h"

static nccl_logger logger;
static struct ibv_context *device;
static struct ibv_pd *pd;
static int planes;

int verbs_warn(const char *what, int error) {
  if (logger != NULL)
    logger(NCCL_LOG_WARN, NCCL_SUBSYSTEM_NET, __FILE__, __LINE__, "verbsref: %s: %s", what, strerror(error));
  return NCCL_SYSTEM_ERROR;
}

static int init(void **context, uint64_t comm_id, struct nccl_config *config, nccl_logger log, nccl_profiler profile) {
  (void)comm_id, (void)config, (void)profile;
  static int there;
  const char *wanted = getenv("VERBSREF_PLANES");
  logger = log;
  *context = &there;
  planes = wanted == NULL ? 1 : atoi(wanted);
  if (planes < 1 || planes > MAX_PLANES) return verbs_warn("VERBSREF_PLANES", EINVAL);
  struct ibv_device **list = ibv_get_device_list(NULL);
  device = list == NULL || list[0] == NULL ? NULL : ibv_open_device(list[0]);
  pd = device == NULL ? NULL : ibv_alloc_pd(device);
  return pd == NULL ? verbs_warn("no device can be opened", errno) : NCCL_SUCCESS;
}

static int get_properties(int number, struct nccl_properties_v12 *properties) {
  (void)number;
  return properties_of("verbsref0", RECEIVES, properties);
}

static int reg(void *comm, void *data, size_t size, int type, void **memory) {
  (void)comm;
  if (type != 1) return NCCL_INVALID_USAGE;
  *memory = ibv_reg_mr(pd, data, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  return *memory == NULL ? verbs_warn("ibv_reg_mr", errno) : NCCL_SUCCESS;
}

static int dereg(void *comm, void *memory) {
  (void)comm;
  int error = ibv_dereg_mr(memory);
  return error != 0 ? verbs_warn("ibv_dereg_mr", error) : NCCL_SUCCESS;
}

static int listen_on(void *context, int number, void *handle, void **listen_comm) {
  (void)context, (void)number;
  struct comm **waiting = calloc(1, sizeof *waiting);
  memset(handle, 0, 128);
  memcpy(handle, &waiting, sizeof waiting);
  *listen_comm = waiting;
  return waiting == NULL ? NCCL_SYSTEM_ERROR : NCCL_SUCCESS;
}

static int move_pair(struct flow *flow, uint32_t peer) {
  union ibv_gid gid;
  int gid_index = (int)flow->index + 1;
  if (ibv_query_gid(device, 1, gid_index, &gid) != 0) return errno;
  struct ibv_qp_attr to = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
  int error = ibv_modify_qp(flow->qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (error != 0) return error;
  to = (struct ibv_qp_attr){
      .qp_state = IBV_QPS_RTR,
      .path_mtu = IBV_MTU_4096,
      .dest_qp_num = peer,
      .max_dest_rd_atomic = 1,
      .min_rnr_timer = 12,
      .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .sgid_index = (uint8_t)gid_index}}};
  error = ibv_modify_qp(flow->qp, &to,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error != 0) return error;
  to = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
  return ibv_modify_qp(flow->qp, &to,
                       IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_MAX_QP_RD_ATOMIC);
}

static int close_comm(void *opaque) {
  struct comm *comm = opaque;
  for (int i = 0; i < comm->planes; i++) {
    if (comm->flows[i].qp != NULL) ibv_destroy_qp(comm->flows[i].qp);
  }
  if (comm->cq != NULL) ibv_destroy_cq(comm->cq);
  if (comm->ring_memory != NULL) ibv_dereg_mr(comm->ring_memory);
  free(comm->ring);
  free(comm);
  return NCCL_SUCCESS;
}

static struct comm *make_comm(bool sending) {
  struct comm *comm = aligned_alloc(64, (sizeof *comm + 63) / 64 * 64);
  if (comm == NULL) return NULL;
  memset(comm, 0, sizeof *comm);
  comm->sending = sending;
  comm->planes = planes;
  comm->ring = aligned_alloc(4096, GROUPS * RECEIVES * sizeof *comm->ring);
  void *memory = NULL;
  if (comm->ring == NULL || reg(comm, comm->ring, GROUPS * RECEIVES * sizeof *comm->ring, 1, &memory) != NCCL_SUCCESS) {
    close_comm(comm);
    return NULL;
  }
  memset(comm->ring, 0, GROUPS * RECEIVES * sizeof *comm->ring);
  comm->ring_memory = memory;
  for (int i = 0; i < LINES; i++) {
    comm->lines[i].state = RELEASED;
    comm->lines[i].comm = comm;
  }
  comm->cq = ibv_create_cq(device, planes * (SENDS + RECEIVE_DEPTH), NULL, NULL, 0);
  for (int i = 0; i < planes && comm->cq != NULL; i++) {
    struct ibv_qp_init_attr wanted = {
        .send_cq = comm->cq,
        .recv_cq = comm->cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = SENDS, .max_recv_wr = RECEIVE_DEPTH, .max_send_sge = 1, .max_recv_sge = 1}};
    comm->flows[i].index = (uint64_t)i;
    comm->flows[i].free_sends = SENDS;
    comm->flows[i].cost = 1ull << 32;
    comm->flows[i].share = WINDOW_BYTES / (uint64_t)planes;
    comm->flows[i].qp = ibv_create_qp(pd, &wanted);
  }
  if (comm->cq == NULL || comm->flows[planes - 1].qp == NULL) {
    verbs_warn("ibv_create_cq, ibv_create_qp", errno);
    close_comm(comm);
    return NULL;
  }
  return comm;
}

static int connect_to(void *context, int number, void *handle, void **out, void **device_comm) {
  (void)context, (void)number, (void)device_comm;
  struct comm **waiting;
  memcpy(&waiting, handle, sizeof waiting);
  struct comm *sender = make_comm(true), *receiver = make_comm(false);
  *out = NULL;
  if (sender == NULL || receiver == NULL) return NCCL_SYSTEM_ERROR;
  sender->peer = receiver;
  receiver->peer = sender;
  for (int i = 0; i < planes; i++) {
    int error = move_pair(&sender->flows[i], receiver->flows[i].qp->qp_num);
    if (error == 0) error = move_pair(&receiver->flows[i], sender->flows[i].qp->qp_num);
    if (error != 0) return verbs_warn("ibv_modify_qp", error);
    if (verbs_post_receives(&receiver->flows[i], RECEIVE_DEPTH) != NCCL_SUCCESS) return NCCL_SYSTEM_ERROR;
  }
  *waiting = receiver;
  *out = sender;
  return NCCL_SUCCESS;
}

static int accept_from(void *listen_comm, void **comm, void **device_comm) {
  (void)device_comm;
  struct comm **waiting = listen_comm;
  *comm = *waiting;
  *waiting = NULL;
  return NCCL_SUCCESS;
}

static int close_listen(void *opaque) {
  free(opaque);
  return NCCL_SUCCESS;
}

__attribute__((visibility("default"))) const struct nccl_net_v12 ncclNetPlugin_v12 = {
    .name = "VerbsRef",
    .init = init,
    .devices = one_device,
    .get_properties = get_properties,
    .listen = listen_on,
    .connect = connect_to,
    .accept = accept_from,
    .reg = reg,
    .dereg = dereg,
    .isend = verbs_isend,
    .irecv = verbs_irecv,
    .iflush = no_flush,
    .test = verbs_test,
    .close_send = close_comm,
    .close_receive = close_comm,
    .close_listen = close_listen,
    .finalize = no_end,
};
