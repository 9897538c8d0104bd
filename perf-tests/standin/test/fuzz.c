/*
 * Tests with random arguments and work requests, which follow from a seed. There must be no crash or hang, memory
 * without permission must keep its bytes, and every signalled or failed request must complete once and in order.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness.h"

enum { GUARD = 4096, ROUNDS = 300 };
static uint64_t state;

static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}
static uint32_t below(uint32_t limit) { return (uint32_t)(next() % limit); }
static bool chance(uint32_t percent) { return below(100) < percent; }

static void seed(void) {
  const char *given = getenv("STANDIN_SEED");
  state = given != NULL ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 2654435761u + 1;
  fprintf(stderr, "STANDIN_SEED=%llu\n", (unsigned long long)state);
}

/* Returns mostly `right`, otherwise a number at a limit or a random one. */
static uint64_t value(uint64_t right) {
  static const uint64_t edges[] = {0, 1, 0x7fffffff, 0xffffffff, UINT64_MAX, UINT64_MAX - 7};
  if (chance(85)) return right;
  return chance(50) ? edges[below(6)] : next();
}

static void modify_at_random(struct end *end, const struct address *peer) {
  struct ibv_qp_attr wanted = {.qp_state = (enum ibv_qp_state)value(below(7)),
                               .cur_qp_state = (enum ibv_qp_state)below(8),
                               .path_mtu = (enum ibv_mtu)value(3),
                               .rq_psn = (uint32_t)value(peer->psn),
                               .sq_psn = (uint32_t)next(),
                               .dest_qp_num = (uint32_t)value(peer->number),
                               .qp_access_flags = (unsigned)next(),
                               .ah_attr = {.is_global = chance(90),
                                           .port_num = (uint8_t)value(1),
                                           .grh = {.dgid = peer->gid, .sgid_index = (uint8_t)value(1)}},
                               .pkey_index = (uint16_t)value(0),
                               .max_rd_atomic = (uint8_t)value(4),
                               .max_dest_rd_atomic = (uint8_t)value(4),
                               .min_rnr_timer = (uint8_t)value(1),
                               .port_num = (uint8_t)value(1),
                               .timeout = (uint8_t)value(1),
                               .retry_cnt = (uint8_t)value(1),
                               .rnr_retry = (uint8_t)value(1)};
  static const int masks[] = {IBV_QP_STATE, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
                              IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
                              IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                  IBV_QP_MAX_QP_RD_ATOMIC};
  int mask = chance(80) ? masks[below(4)] : (int)(next() & 0x1fffff);
  int error = ibv_modify_qp(end->qp, &wanted, mask);
  CHECK(error == 0 || error == EINVAL || error == ETIMEDOUT, "errno value %d", error);
}

static void verbs_survive_any_argument(bool in_child) {
  (void)in_child;
  seed();
  struct options options = usual_options();
  struct end *end = open_end(&options);
  struct address own = address_of(end);
  for (int round = 0; round < ROUNDS * 10; round++) {
    struct ibv_gid_entry entry;
    union ibv_gid gid;
    struct ibv_port_attr port;
    __be16 key;
    ibv_query_gid(end->context, (uint8_t)value(1), (int)value(1), &gid);
    ibv_query_gid_ex(end->context, (uint32_t)value(1), (uint32_t)value(1), &entry, (uint32_t)value(0));
    ibv_query_port(end->context, (uint8_t)value(1), &port);
    ibv_query_pkey(end->context, (uint8_t)value(1), (int)value(0), &key);
    struct ibv_mr *mr = ibv_reg_mr(end->pd, end->buffer + below(GUARD), value(GUARD), (int)value(below(8)));
    if (mr != NULL) CHECK(mr->lkey != 0 && ibv_dereg_mr(mr) == 0, "registered");
    if (chance(10)) {
      struct ibv_cq *cq = ibv_create_cq(end->context, (int)value(16), NULL, NULL, (int)value(0));
      if (cq != NULL) {
        ibv_resize_cq(cq, (int)value(32));
        CHECK(ibv_destroy_cq(cq) == 0, "destroyed");
      }
      struct ibv_qp_init_attr wanted = {
          .send_cq = end->cq,
          .recv_cq = end->cq,
          .qp_type = (enum ibv_qp_type)value(IBV_QPT_RC),
          .cap = {(uint32_t)value(8), (uint32_t)value(8), (uint32_t)value(1), (uint32_t)value(1), (uint32_t)value(64)}};
      struct ibv_qp *qp = ibv_create_qp(end->pd, &wanted);
      if (qp != NULL) CHECK(ibv_destroy_qp(qp) == 0, "destroyed");
    }
    modify_at_random(end, &own);
  }
  close_end(end);
}

/* Polls all completions of an end; those of sends must be in order. Returns the number of completed sends. */
static uint32_t drain(struct end *end, uint64_t *last) {
  struct ibv_wc completions[8];
  uint32_t found = 0;
  int count;
  while ((count = ibv_poll_cq(end->cq, 8, completions)) > 0) {
    for (int i = 0; i < count; i++) {
      if (completions[i].wr_id >= 1u << 30) continue; /* a receive */
      CHECK(completions[i].wr_id == *last + 1, "%llu came after %llu", (unsigned long long)completions[i].wr_id,
            (unsigned long long)*last);
      *last = completions[i].wr_id;
      found++;
    }
  }
  CHECK(count == 0, "poll returned %d", count);
  return found;
}

/*
 * Posts a random request; if `strange` is set, some fields may be invalid. Increments `posted` if the request is
 * accepted.
 */
static void random_send(struct end *end, const struct address *peer, uint64_t *posted, bool strange) {
  static const enum ibv_wr_opcode opcodes[] = {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
                                               IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ};
  struct ibv_sge pieces[4];
  for (int i = 0; i < 4; i++) {
    /* Local memory of requests is in the buffer's first quarter, remote memory in its second quarter. */
    pieces[i] = piece(end, below(BUFFER_BYTES / 8), below(2000));
    if (strange && chance(2)) pieces[i].addr = value(pieces[i].addr);
    if (strange && chance(2)) pieces[i].lkey = (uint32_t)value(pieces[i].lkey);
  }
  uint64_t offset = BUFFER_BYTES / 4 + below(BUFFER_BYTES / 8);
  struct ibv_send_wr wanted =
      request(!strange || chance(95) ? opcodes[below(5)] : (enum ibv_wr_opcode)below(20), *posted + 1, pieces, peer,
              !strange || chance(97) ? offset : BUFFER_BYTES / 2 - below(2000) % 3);
  wanted.num_sge = !strange || chance(95) ? (int)below(5) : (int)value(1);
  if (strange && chance(3)) wanted.wr.rdma.rkey = (uint32_t)value(peer->key);
  if (strange && chance(3)) wanted.wr.rdma.remote_addr = value(peer->buffer);
  bool inline_data = chance(10) && pieces[0].addr >= (uintptr_t)end->buffer;
  if (inline_data) {
    pieces[0] = piece(end, 0, below(300));
    wanted.num_sge = 1;
    wanted.send_flags = IBV_SEND_INLINE;
  }
  int error = post(end, &wanted);
  CHECK(error == 0 || error == EINVAL || error == ENOMEM, "errno value %d", error);
  if (error == 0) ++*posted;
}

static void work_of_any_kind_completes_once(bool in_child) {
  (void)in_child; /* the check of memory needs both ends in one process */
  seed();
  struct options options = usual_options();
  options.rnr_timer = 1;
  options.rnr_retry = 1;
  options.timeout = 1;
  options.retries = 1;
  options.queue_entries = 1024;
  struct end *first = open_end(&options), *second = open_end(&options);
  struct address near = address_of(first), far = address_of(second);
  /* This region is registered without remote write, but the requests also try its address and key. */
  uint8_t *kept = aligned_alloc(GUARD, GUARD);
  fill(kept, GUARD, 4);
  struct ibv_mr *readable = ibv_reg_mr(second->pd, kept, GUARD, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
  CHECK(readable != NULL, "errno %d", errno);
  struct address forbidden = {.key = readable->rkey, .buffer = (uintptr_t)kept - BUFFER_BYTES / 4};
  uint64_t posted = 0, last = 0, failures = 0;
  for (int round = 0; round < ROUNDS; round++) {
    connect_end(second, &near);
    connect_end(first, &far);
    bool strange = round % 4 != 0;
    for (int i = 0; i < 40; i++) {
      if (!strange || chance(70)) {
        uint32_t room = strange ? below(9000) : 9000;
        int error = post_receive_of(second, 1u << 30, BUFFER_BYTES / 4 + below(BUFFER_BYTES / 8), room);
        CHECK(error == 0 || error == ENOMEM, "errno value %d", error);
      }
      random_send(first, !strange || chance(97) ? &far : &forbidden, &posted, strange);
      if (chance(20)) drain(first, &last);
      if (chance(20)) drain(second, &(uint64_t){0});
    }
    uint64_t until = clock_ns() + 5000000000u;
    while (last < posted && clock_ns() < until) drain(first, &last);
    CHECK(last == posted, "%llu of %llu have completed", (unsigned long long)last, (unsigned long long)posted);
    drain(second, &(uint64_t){0});
    failures += state_of(first) == IBV_QPS_ERR;
    CHECK(to_state(first, IBV_QPS_RESET) == 0 && to_state(second, IBV_QPS_RESET) == 0, "reset");
  }
  CHECK(failures > ROUNDS / 10 && failures < ROUNDS, "%llu of %d rounds had an error: too few or too many",
        (unsigned long long)failures, ROUNDS);
  CHECK(compare(kept, GUARD, 4) == GUARD, "memory without remote write permission has changed");
  CHECK(ibv_dereg_mr(readable) == 0, "deregistered");
  free(kept);
  close_end(first);
  close_end(second);
}

int main(int count, char **words) {
  static const struct test tests[] = {{"verbs_survive_any_argument", verbs_survive_any_argument},
                                      {"work_of_any_kind_completes_once", work_of_any_kind_completes_once},
                                      {NULL, NULL}};
  return run_tests(tests, count, words);
}
