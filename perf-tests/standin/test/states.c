/* Tests of queue pairs' states: the transitions, their requirements, and the states in which posting is allowed. */
#include <errno.h>

#include "harness.h"

static struct address itself(struct end *end) { return address_of(end); }

static void posting_depends_on_the_state(bool in_child) {
  (void)in_child;
  struct options options = usual_options();
  struct end *end = open_end(&options);
  struct address self = itself(end);
  struct ibv_sge sge = piece(end, 0, 8);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 1, &sge, &self, 64);
  CHECK(post(end, &wanted) == EINVAL && post_receive_of(end, 1, 0, 8) == EINVAL, "RESET takes nothing");
  CHECK(to_init(end) == 0, "INIT");
  CHECK(post(end, &wanted) == EINVAL && post_receive_of(end, 1, 0, 8) == 0, "INIT takes receives");
  CHECK(to_receive(end, &self) == 0, "RTR");
  CHECK(post(end, &wanted) == EINVAL && post_receive_of(end, 2, 0, 8) == 0, "RTR takes receives");
  CHECK(to_send(end) == 0, "RTS");
  CHECK(post(end, &wanted) == 0, "RTS takes both");
  CHECK(await(end, 1000).status == IBV_WC_SUCCESS, "a pair may be connected to itself");
  close_end(end);
}

static void steps_are_those_of_the_specification(bool in_child) {
  (void)in_child;
  struct options options = usual_options();
  struct end *end = open_end(&options);
  struct address self = itself(end);
  CHECK(to_send(end) == EINVAL && to_receive(end, &self) == EINVAL, "from RESET only INIT");
  CHECK(to_init(end) == 0 && to_init(end) == 0, "INIT to INIT");
  CHECK(to_send(end) == EINVAL, "INIT to RTS");
  CHECK(to_receive(end, &self) == 0 && to_receive(end, &self) == EINVAL && to_init(end) == EINVAL, "RTR only forward");
  CHECK(to_send(end) == 0, "RTS");
  CHECK(to_state(end, IBV_QPS_SQD) == 0 && to_state(end, IBV_QPS_RTS) == 0, "SQD and back");
  CHECK(to_state(end, IBV_QPS_ERR) == 0 && to_state(end, IBV_QPS_RTS) == EINVAL && to_init(end) == EINVAL,
        "ERR to RESET only");
  CHECK(to_state(end, IBV_QPS_RESET) == 0 && state_of(end) == IBV_QPS_RESET, "RESET");
  close_end(end);
}

static void each_step_needs_its_attributes(bool in_child) {
  (void)in_child;
  struct options options = usual_options();
  struct end *end = open_end(&options);
  struct address self = itself(end);
  const int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  struct ibv_qp_attr wanted = {.qp_state = IBV_QPS_INIT, .port_num = 1};
  for (int bit = 1; bit < 1 << 21; bit <<= 1) {
    if (bit == IBV_QP_STATE || bit == IBV_QP_CUR_STATE) continue;
    CHECK(ibv_modify_qp(end->qp, &wanted, init ^ bit) == EINVAL, "attribute %x", bit);
  }
  wanted.port_num = 2;
  CHECK(ibv_modify_qp(end->qp, &wanted, init) == EINVAL, "there is no port 2");
  CHECK(to_init(end) == 0, "INIT");
  const int receive = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  struct ibv_qp_attr path = {.qp_state = IBV_QPS_RTR,
                             .path_mtu = IBV_MTU_1024,
                             .dest_qp_num = self.number,
                             .max_dest_rd_atomic = 1,
                             .min_rnr_timer = 12,
                             .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = self.gid, .sgid_index = 1}}};
  for (int bit = 1; bit < 1 << 21; bit <<= 1) {
    if ((receive & bit) == 0 || bit == IBV_QP_STATE) continue;
    CHECK(ibv_modify_qp(end->qp, &path, receive ^ bit) == EINVAL, "attribute %x", bit);
  }
  struct ibv_qp_attr bad = path;
  bad.path_mtu = 6;
  CHECK(ibv_modify_qp(end->qp, &bad, receive) == EINVAL, "MTU");
  bad = path;
  bad.ah_attr.grh.sgid_index = 15;
  CHECK(ibv_modify_qp(end->qp, &bad, receive) == EINVAL, "an empty GID");
  bad.ah_attr.grh.sgid_index = 200;
  CHECK(ibv_modify_qp(end->qp, &bad, receive) == EINVAL, "no such GID");
  bad = path;
  bad.ah_attr.is_global = 0;
  CHECK(ibv_modify_qp(end->qp, &bad, receive) == EINVAL, "Ethernet needs addresses");
  bad = path;
  bad.ah_attr.grh.dgid.raw[3] ^= 1;
  CHECK(ibv_modify_qp(end->qp, &bad, receive) == ETIMEDOUT, "no port has that address");
  bad = path;
  bad.max_dest_rd_atomic = 17;
  CHECK(ibv_modify_qp(end->qp, &bad, receive) == EINVAL, "more reads than the device has");
  CHECK(state_of(end) == IBV_QPS_INIT && ibv_modify_qp(end->qp, &path, receive) == 0, "nothing has changed");
  close_end(end);
}

static void attributes_can_be_asked(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  struct ibv_qp_attr found;
  struct ibv_qp_init_attr created;
  CHECK(ibv_query_qp(both.first->qp, &found, 0, &created) == 0, "query");
  CHECK(found.qp_state == IBV_QPS_RTS && found.dest_qp_num == both.far.number && found.path_mtu == IBV_MTU_4096 &&
            found.rq_psn == both.far.psn && found.sq_psn == both.near.psn && found.timeout == 10 &&
            found.retry_cnt == 3 && found.rnr_retry == 7 && found.ah_attr.grh.sgid_index == 1,
        "attributes");
  CHECK(created.send_cq == both.first->cq && created.cap.max_send_wr == DEPTH && created.qp_type == IBV_QPT_RC,
        "created");
  close_couple(both);
}

static void nothing_lands_after_the_error_state(bool in_child) {
  struct options options = usual_options();
  options.timeout = 8;
  options.retries = 0;
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 1 << 16);
  fill(both.first->buffer, 1 << 16, 1);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 1, &sge, &both.far, 1 << 20);
  CHECK(post(both.first, &wanted) == 0 && await(both.first, 1000).status == IBV_WC_SUCCESS, "write");
  CHECK(second_to_state(both.second, IBV_QPS_ERR) == 0, "fence");
  second_fill(both.second, 1 << 20, 1 << 16, 2);
  CHECK(post(both.first, &wanted) == 0 && await(both.first, 1000).status == IBV_WC_RETRY_EXC_ERR, "write");
  CHECK(second_compare(both.second, 1 << 20, 1 << 16, 2) == 1 << 16, "the old bytes must not land");
  close_couple(both);
}

static void reset_forgets_completions(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 8);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 1, &sge, &both.far, 0);
  CHECK(post(both.first, &wanted) == 0 && post_receive_of(both.first, 2, 0, 8) == 0, "post");
  CHECK(to_state(both.first, IBV_QPS_RESET) == 0, "reset");
  await_nothing(both.first, 10);
  close_couple(both);
}

static void drained_sends_wait(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 8);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 1, &sge, &both.far, 0);
  CHECK(to_state(both.first, IBV_QPS_SQD) == 0 && post(both.first, &wanted) == 0, "post in SQD");
  await_nothing(both.first, 10);
  CHECK(to_state(both.first, IBV_QPS_RTS) == 0, "RTS");
  CHECK(await(both.first, 1000).status == IBV_WC_SUCCESS, "sent now");
  close_couple(both);
}

static void limits_are_those_of_the_device(bool in_child) {
  (void)in_child;
  struct options options = usual_options();
  struct end *end = open_end(&options);
  struct ibv_device_attr device;
  CHECK(ibv_query_device(end->context, &device) == 0, "query");
  CHECK(ibv_create_cq(end->context, device.max_cqe + 1, NULL, NULL, 0) == NULL && errno == EINVAL, "errno %d", errno);
  CHECK(ibv_create_cq(end->context, 0, NULL, NULL, 0) == NULL && errno == EINVAL, "errno %d", errno);
  struct ibv_qp_init_attr wanted = {.send_cq = end->cq,
                                    .recv_cq = end->cq,
                                    .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = (uint32_t)device.max_qp_wr + 1}};
  CHECK(ibv_create_qp(end->pd, &wanted) == NULL && errno == EINVAL, "errno %d", errno);
  wanted.cap.max_send_wr = (uint32_t)device.max_qp_wr;
  wanted.cap.max_recv_wr = (uint32_t)device.max_qp_wr;
  struct ibv_qp *biggest = ibv_create_qp(end->pd, &wanted);
  CHECK(biggest != NULL && ibv_destroy_qp(biggest) == 0, "errno %d", errno);
  wanted.qp_type = IBV_QPT_UC;
  CHECK(ibv_create_qp(end->pd, &wanted) == NULL && errno == EOPNOTSUPP, "errno %d", errno);
  CHECK(ibv_destroy_cq(end->cq) == EBUSY && ibv_dealloc_pd(end->pd) == EBUSY, "what is in use stays");
  close_end(end);
}

int main(int count, char **words) {
  static const struct test tests[] = {{"posting_depends_on_the_state", posting_depends_on_the_state},
                                      {"steps_are_those_of_the_specification", steps_are_those_of_the_specification},
                                      {"each_step_needs_its_attributes", each_step_needs_its_attributes},
                                      {"attributes_can_be_asked", attributes_can_be_asked},
                                      {"nothing_lands_after_the_error_state", nothing_lands_after_the_error_state},
                                      {"reset_forgets_completions", reset_forgets_completions},
                                      {"drained_sends_wait", drained_sends_wait},
                                      {"limits_are_those_of_the_device", limits_are_those_of_the_device},
                                      {NULL, NULL}};
  return run_tests(tests, count, words);
}
