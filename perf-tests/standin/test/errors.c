/* Tests of each error completion: its status at either end, and the queue pairs' states afterwards. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

enum { FAR = 1 << 21 };

static void failed(struct ibv_wc completion, uint64_t id, enum ibv_wc_status status) {
  CHECK(completion.wr_id == id && completion.status == status, "id %llu has %s instead of %s",
        (unsigned long long)completion.wr_id, ibv_wc_status_str(completion.status), ibv_wc_status_str(status));
}

/*
 * Posts two requests and checks that the first one fails, the second one is flushed, and the pair is in the error
 * state.
 */
static void fails(struct couple *both, struct ibv_send_wr wanted, enum ibv_wc_status status) {
  struct ibv_send_wr behind = wanted;
  wanted.next = &behind;
  wanted.wr_id = 1;
  behind.wr_id = 2;
  CHECK(post(both->first, &wanted) == 0, "post");
  failed(await(both->first, 5000), 1, status);
  failed(await(both->first, 1000), 2, IBV_WC_WR_FLUSH_ERR);
  CHECK(state_of(both->first) == IBV_QPS_ERR, "state %d", state_of(both->first));
}

/* Resets and reconnects both ends, and checks that they can be used again. */
static void recover(struct couple *both) {
  CHECK(to_state(both->first, IBV_QPS_RESET) == 0 && second_to_state(both->second, IBV_QPS_RESET) == 0, "reset");
  second_connect(both->second, &both->near);
  connect_end(both->first, &both->far);
  fill(both->first->buffer, 64, 9);
  struct ibv_sge sge = piece(both->first, 0, 64);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 77, &sge, &both->far, FAR);
  CHECK(post(both->first, &wanted) == 0, "post");
  failed(await(both->first, 1000), 77, IBV_WC_SUCCESS);
  CHECK(second_compare(both->second, FAR, 64, 9) == 64, "after the reset");
}

static void local_keys_are_checked(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 8);
  sge.lkey ^= 0x100;
  fails(&both, request(IBV_WR_RDMA_WRITE, 1, &sge, &both.far, 0), IBV_WC_LOC_PROT_ERR);
  CHECK(second_state(both.second) == IBV_QPS_RTS, "nothing was sent");
  recover(&both);
  sge = piece(both.first, BUFFER_BYTES - 4, 8);
  fails(&both, request(IBV_WR_RDMA_WRITE, 1, &sge, &both.far, 0), IBV_WC_LOC_PROT_ERR);
  close_couple(both);
}

static void remote_bounds_are_checked(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 8);
  const uint64_t offsets[] = {BUFFER_BYTES - 7, BUFFER_BYTES, (uint64_t)-1, (uint64_t)-8};
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
    fails(&both, request(IBV_WR_RDMA_WRITE, 1, &sge, &both.far, offsets[i]), IBV_WC_REM_ACCESS_ERR);
    CHECK(second_state(both.second) == IBV_QPS_ERR && second_event(both.second) == IBV_EVENT_QP_ACCESS_ERR,
          "the other end fails too, and is notified");
    recover(&both);
  }
  struct ibv_send_wr last = request(IBV_WR_RDMA_WRITE, 5, &sge, &both.far, BUFFER_BYTES - 8);
  CHECK(post(both.first, &last) == 0 && await(both.first, 1000).status == IBV_WC_SUCCESS, "the last bytes are inside");
  close_couple(both);
}

static void remote_keys_are_checked(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 8);
  const uint32_t keys[] = {0, both.far.key ^ 1, both.far.key ^ 0x40000, 0xffffffff};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    struct ibv_send_wr wanted = request(IBV_WR_RDMA_READ, 1, &sge, &both.far, 0);
    wanted.wr.rdma.rkey = keys[i];
    fails(&both, wanted, IBV_WC_REM_ACCESS_ERR);
    recover(&both);
  }
  close_couple(both);
}

static void a_key_of_another_domain_is_refused(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  struct ibv_pd *other = ibv_alloc_pd(both.first->context);
  struct ibv_mr *mr = ibv_reg_mr(other, both.first->buffer, 4096, IBV_ACCESS_LOCAL_WRITE);
  struct ibv_sge sge = piece(both.first, 0, 8);
  sge.lkey = mr->lkey;
  fails(&both, request(IBV_WR_RDMA_WRITE, 1, &sge, &both.far, 0), IBV_WC_LOC_PROT_ERR);
  CHECK(ibv_dealloc_pd(other) == EBUSY, "a domain in use stays");
  CHECK(ibv_dereg_mr(mr) == 0 && ibv_dealloc_pd(other) == 0, "freed");
  close_couple(both);
}

static void regions_allow_only_their_access_flags(bool in_child) {
  struct options options = usual_options();
  options.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 8);
  fails(&both, request(IBV_WR_RDMA_WRITE, 1, &sge, &both.far, 0), IBV_WC_REM_ACCESS_ERR);
  CHECK(to_state(both.first, IBV_QPS_RESET) == 0 && second_to_state(both.second, IBV_QPS_RESET) == 0, "reset");
  second_connect(both.second, &both.near);
  connect_end(both.first, &both.far);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_READ, 1, &sge, &both.far, 0);
  CHECK(post(both.first, &wanted) == 0 && await(both.first, 1000).status == IBV_WC_SUCCESS, "reading is allowed");
  close_couple(both);
}

static void queue_pairs_allow_only_their_access_flags(bool in_child) {
  struct options options = usual_options();
  options.pair_access = IBV_ACCESS_REMOTE_READ;
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 8);
  fails(&both, request(IBV_WR_RDMA_WRITE, 1, &sge, &both.far, 0), IBV_WC_REM_INV_REQ_ERR);
  close_couple(both);
  options = usual_options();
  options.reads = 0;
  both = couple(&options, false);
  sge = piece(both.first, 0, 8);
  fails(&both, request(IBV_WR_RDMA_READ, 1, &sge, &both.far, 0), IBV_WC_LOC_QP_OP_ERR);
  close_couple(both);
}

static void a_message_longer_than_its_buffer_fails_both_ends(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 101);
  CHECK(second_receive(both.second, 50, FAR, 100) == 0 && second_receive(both.second, 51, FAR, 100) == 0, "receive");
  if (in_child) {
    fails(&both, request(IBV_WR_SEND, 1, &sge, &both.far, 0), IBV_WC_REM_INV_REQ_ERR);
    failed(second_await(both.second), 50, IBV_WC_LOC_LEN_ERR);
    failed(second_await(both.second), 51, IBV_WC_WR_FLUSH_ERR);
    CHECK(second_event(both.second) == IBV_EVENT_QP_REQ_ERR, "event");
  } else {
    /* Both ends are in this process, but each has its own completion queue. */
    struct ibv_send_wr wanted = request(IBV_WR_SEND, 1, &sge, &both.far, 0);
    CHECK(post(both.first, &wanted) == 0, "post");
    failed(await(both.first, 1000), 1, IBV_WC_REM_INV_REQ_ERR);
    failed(second_await(both.second), 50, IBV_WC_LOC_LEN_ERR);
  }
  close_couple(both);
}

static void no_receive_within_the_retries(bool in_child) {
  struct options options = usual_options();
  options.rnr_retry = 2;
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 8);
  uint64_t begin = clock_ns();
  fails(&both, request(IBV_WR_SEND, 1, &sge, &both.far, 0), IBV_WC_RNR_RETRY_EXC_ERR);
  CHECK(clock_ns() - begin >= 2 * 640000, "after two waits of 0.64 ms");
  CHECK(second_state(both.second) == IBV_QPS_RTS, "the receiver didn't fail");
  close_couple(both);
}

static void no_answer_within_the_retries(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 8);
  CHECK(second_to_state(both.second, IBV_QPS_ERR) == 0, "error");
  uint64_t begin = clock_ns();
  fails(&both, request(IBV_WR_RDMA_WRITE, 1, &sge, &both.far, 0), IBV_WC_RETRY_EXC_ERR);
  uint64_t took = clock_ns() - begin, wanted = 4 * (4096ull << 10);
  CHECK(took >= wanted, "four times 4.2 ms have to pass, %llu ns did", (unsigned long long)took);
  recover(&both);
  close_couple(both);
}

static void another_sequence_number_is_no_answer(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  CHECK(to_state(both.first, IBV_QPS_RESET) == 0, "reset");
  connect_end(both.first, &both.far); /* no packet was sent, so the far end still expects the first PSN */
  struct ibv_sge sge = piece(both.first, 0, 8);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 1, &sge, &both.far, 0);
  CHECK(post(both.first, &wanted) == 0 && await(both.first, 1000).status == IBV_WC_SUCCESS, "the same number still");
  CHECK(to_state(both.first, IBV_QPS_RESET) == 0, "reset");
  connect_end(both.first, &both.far);
  fails(&both, wanted, IBV_WC_RETRY_EXC_ERR);
  close_couple(both);
}

static void only_the_connected_peer_is_accepted(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  struct end *other = open_end(&options);
  connect_end(other, &both.far);
  struct ibv_sge sge = piece(other, 0, 8);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 1, &sge, &both.far, 0);
  CHECK(post(other, &wanted) == 0, "post");
  failed(await(other, 5000), 1, IBV_WC_RETRY_EXC_ERR);
  CHECK(second_state(both.second) == IBV_QPS_RTS, "the far end received nothing");
  close_end(other);
  close_couple(both);
}

static void posts_to_a_failed_pair_are_flushed(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  for (uint64_t i = 0; i < 3; i++) CHECK(post_receive_of(both.first, 10 + i, 0, 64) == 0, "receive");
  CHECK(to_state(both.first, IBV_QPS_ERR) == 0, "error");
  for (uint64_t i = 0; i < 3; i++) failed(await(both.first, 1000), 10 + i, IBV_WC_WR_FLUSH_ERR);
  struct ibv_sge sge = piece(both.first, 0, 8);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 20, &sge, &both.far, 0);
  CHECK(post(both.first, &wanted) == 0 && post_receive_of(both.first, 21, 0, 64) == 0, "posting is allowed");
  failed(await(both.first, 1000), 20, IBV_WC_WR_FLUSH_ERR);
  failed(await(both.first, 1000), 21, IBV_WC_WR_FLUSH_ERR);
  close_couple(both);
}

static void queue_overrun_fails_its_queue_pairs(bool in_child) {
  struct options options = usual_options();
  options.queue_entries = 4;
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 8);
  for (uint64_t i = 0; i < 6; i++) {
    struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, i, &sge, &both.far, 0);
    CHECK(post(both.first, &wanted) == 0, "post");
  }
  CHECK(await_event(both.first, 1000) == IBV_EVENT_CQ_ERR, "event");
  for (int i = 0; i < 1000 && state_of(both.first) != IBV_QPS_ERR; i++) usleep(1000);
  CHECK(state_of(both.first) == IBV_QPS_ERR, "state %d", state_of(both.first));
  for (uint64_t i = 0; i < 4; i++) CHECK(await(both.first, 1000).wr_id == i, "those that fitted");
  struct ibv_wc completion;
  CHECK(ibv_poll_cq(both.first->cq, 1, &completion) < 0, "polling an overrun queue is an error");
  close_couple(both);
}

static void deregistered_key_is_refused(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  struct ibv_mr *mr = ibv_reg_mr(both.first->pd, both.first->buffer, 4096, IBV_ACCESS_LOCAL_WRITE);
  struct ibv_sge sge = piece(both.first, 0, 8);
  sge.lkey = mr->lkey;
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 1, &sge, &both.far, 0);
  CHECK(post(both.first, &wanted) == 0 && await(both.first, 1000).status == IBV_WC_SUCCESS, "while it's registered");
  CHECK(ibv_dereg_mr(mr) == 0, "deregistered");
  fails(&both, wanted, IBV_WC_LOC_PROT_ERR);
  close_couple(both);
}

static void unmapped_memory_is_not_registered(bool in_child) {
  struct options options = usual_options();
  struct end *end = open_end(&options);
  (void)in_child;
  char *hole = mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(hole + 8192, 4096);
  CHECK(ibv_reg_mr(end->pd, hole + 8192, 4096, 0) == NULL && errno == EFAULT, "errno %d", errno);
  char *constant = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(ibv_reg_mr(end->pd, constant, 4096, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EFAULT, "errno %d", errno);
  struct ibv_mr *readable = ibv_reg_mr(end->pd, constant, 4096, IBV_ACCESS_REMOTE_READ);
  CHECK(readable != NULL && ibv_dereg_mr(readable) == 0, "errno %d", errno);
  CHECK(ibv_reg_mr(end->pd, end->buffer, 64, IBV_ACCESS_REMOTE_WRITE) == NULL && errno == EINVAL, "errno %d", errno);
  CHECK(ibv_reg_mr(end->pd, end->buffer, 0, 0) == NULL && errno == EINVAL, "errno %d", errno);
  CHECK(ibv_reg_dmabuf_mr(end->pd, 0, 4096, 0, 0, 0) == NULL && errno == EOPNOTSUPP, "errno %d", errno);
  close_end(end);
}

static void a_file_can_be_registered_as_a_dma_buf(bool in_child) {
  struct options options = usual_options();
  struct end *end = open_end(&options);
  (void)in_child;
  enum { FILE_BYTES = 1 << 16 };
  int file = memfd_create("dma-buf", 0);
  CHECK(file >= 0 && ftruncate(file, FILE_BYTES) == 0, "errno %d", errno);
  setenv("STANDIN_DMABUF", "1", 1);
  CHECK(ibv_reg_dmabuf_mr(end->pd, 0, 4096, 0, -1, 0) == NULL && errno == EBADF, "errno %d", errno);
  CHECK(ibv_reg_dmabuf_mr(end->pd, 0, FILE_BYTES + 1, 0, file, 0) == NULL && errno == EINVAL, "errno %d", errno);
  CHECK(ibv_reg_dmabuf_mr(end->pd, 0, 0, 0, file, 0) == NULL && errno == EINVAL, "errno %d", errno);
  struct ibv_mr *mr = ibv_reg_dmabuf_mr(end->pd, 5000, 8192, 0x7000000, file, IBV_ACCESS_LOCAL_WRITE);
  CHECK(mr != NULL, "errno %d", errno);
  close(file);
  CHECK(ibv_dereg_mr(mr) == 0, "errno %d", errno);
  unsetenv("STANDIN_DMABUF");
  close_end(end);
}

int main(int count, char **words) {
  static const struct test tests[] = {
      {"local_keys_are_checked", local_keys_are_checked},
      {"remote_bounds_are_checked", remote_bounds_are_checked},
      {"remote_keys_are_checked", remote_keys_are_checked},
      {"a_key_of_another_domain_is_refused", a_key_of_another_domain_is_refused},
      {"a_file_can_be_registered_as_a_dma_buf", a_file_can_be_registered_as_a_dma_buf},
      {"regions_allow_only_their_access_flags", regions_allow_only_their_access_flags},
      {"queue_pairs_allow_only_their_access_flags", queue_pairs_allow_only_their_access_flags},
      {"a_message_longer_than_its_buffer_fails_both_ends", a_message_longer_than_its_buffer_fails_both_ends},
      {"no_receive_within_the_retries", no_receive_within_the_retries},
      {"no_answer_within_the_retries", no_answer_within_the_retries},
      {"another_sequence_number_is_no_answer", another_sequence_number_is_no_answer},
      {"only_the_connected_peer_is_accepted", only_the_connected_peer_is_accepted},
      {"posts_to_a_failed_pair_are_flushed", posts_to_a_failed_pair_are_flushed},
      {"queue_overrun_fails_its_queue_pairs", queue_overrun_fails_its_queue_pairs},
      {"deregistered_key_is_refused", deregistered_key_is_refused},
      {"unmapped_memory_is_not_registered", unmapped_memory_is_not_registered},
      {NULL, NULL}};
  return run_tests(tests, count, words);
}
