/*
 * Cost of posting and polling from C: nanoseconds per call, between two queue pairs of this process on the first device
 * that libibverbs lists. This is the baseline for the same calls from Java, which VerbsCost in tools measures in the
 * same way.
 *
 * Each line on standard input starts a round, which prints a line "case nanoseconds" for each case, then "end".
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  BATCH = 16,
  DEPTH = 64,
  WRITE_BYTES = 8,
  GID_INDEX = 1,
  MEMORY_BYTES = 4096,
  ROUND_NS = 20000000,
  BATCH_CALLS = 64 * BATCH,
  MOST_BATCHES = 1 << 15
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *near_pair, *far_pair;
static struct ibv_mr *memory;
static struct ibv_send_wr requests[BATCH];
static struct ibv_sge pieces[BATCH];
static struct ibv_wc completions[BATCH];

static _Noreturn void give_up(const char *what, int error) {
  fprintf(stderr, "verbs-cost: %s: %s\n", what, strerror(error));
  exit(3);
}

static void require(int error, const char *what) {
  if (error != 0) give_up(what, error);
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct ibv_qp *create_pair(void) {
  struct ibv_qp_init_attr wanted = {
      .send_cq = cq,
      .recv_cq = cq,
      .qp_type = IBV_QPT_RC,
      .cap = {.max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
  struct ibv_qp *pair = ibv_create_qp(pd, &wanted);
  if (pair == NULL) give_up("ibv_create_qp", errno);
  return pair;
}

static void connect_to(struct ibv_qp *pair, const struct ibv_qp *peer) {
  union ibv_gid gid;
  require(ibv_query_gid(context, 1, GID_INDEX, &gid) == 0 ? 0 : errno, "ibv_query_gid");
  struct ibv_qp_attr wanted = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
  require(ibv_modify_qp(pair, &wanted, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
          "to INIT");
  wanted =
      (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                           .path_mtu = IBV_MTU_4096,
                           .dest_qp_num = peer->qp_num,
                           .max_dest_rd_atomic = 1,
                           .min_rnr_timer = 12,
                           .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .sgid_index = GID_INDEX}}};
  require(ibv_modify_qp(pair, &wanted,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
          "to RTR");
  wanted =
      (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
  require(ibv_modify_qp(pair, &wanted,
                        IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                            IBV_QP_MAX_QP_RD_ATOMIC),
          "to RTS");
}

static void set_up(void) {
  int count = 0;
  struct ibv_device **list = ibv_get_device_list(&count);
  if (list == NULL || count == 0) give_up("ibv_get_device_list", list == NULL ? errno : ENODEV);
  context = ibv_open_device(list[0]);
  if (context == NULL) give_up("ibv_open_device", errno);
  ibv_free_device_list(list);
  pd = ibv_alloc_pd(context);
  cq = ibv_create_cq(context, 4 * DEPTH, NULL, NULL, 0);
  uint8_t *bytes = aligned_alloc(MEMORY_BYTES, MEMORY_BYTES);
  if (pd == NULL || cq == NULL || bytes == NULL) give_up("ibv_alloc_pd, ibv_create_cq", errno);
  memory = ibv_reg_mr(pd, bytes, MEMORY_BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  if (memory == NULL) give_up("ibv_reg_mr", errno);
  near_pair = create_pair();
  far_pair = create_pair();
  connect_to(near_pair, far_pair);
  connect_to(far_pair, near_pair);
}

/* Fills in requests as Heddle's transport does for chunks: writes every field and links the requests to a list. */
static void fill_in(int count, int signalled) {
  for (int i = 0; i < count; i++) {
    pieces[i] = (struct ibv_sge){.addr = (uintptr_t)memory->addr, .length = WRITE_BYTES, .lkey = memory->lkey};
    requests[i] = (struct ibv_send_wr){.wr_id = (uint64_t)i,
                                       .next = i + 1 < count ? &requests[i + 1] : NULL,
                                       .sg_list = &pieces[i],
                                       .num_sge = 1,
                                       .opcode = IBV_WR_RDMA_WRITE,
                                       .send_flags = signalled ? IBV_SEND_SIGNALED : 0,
                                       .wr.rdma = {(uintptr_t)memory->addr + MEMORY_BYTES / 2, memory->rkey}};
  }
}

static void post(void) {
  struct ibv_send_wr *bad;
  require(ibv_post_send(near_pair, requests, &bad), "ibv_post_send");
}

static void take(int count) {
  for (int taken = 0; taken < count;) {
    int found = ibv_poll_cq(cq, BATCH, completions);
    if (found < 0) give_up("ibv_poll_cq", EIO);
    for (int i = 0; i < found; i++) {
      if (completions[i].status != IBV_WC_SUCCESS) give_up(ibv_wc_status_str(completions[i].status), EIO);
    }
    taken += found;
  }
}

/* ---- cases: each returns the nanoseconds of `calls` calls ---- */

static uint64_t empty_poll(int calls) {
  uint64_t begin = now_ns();
  for (int i = 0; i < calls; i++) {
    if (ibv_poll_cq(cq, BATCH, completions) != 0) give_up("a completion of nothing", EIO);
  }
  return now_ns() - begin;
}

/*
 * Measures posts of one request per call. The last request of a batch is signalled, and its completion is polled
 * outside the timed part.
 */
static uint64_t single_post(int calls) {
  uint64_t spent = 0;
  for (int done = 0; done < calls; done += BATCH) {
    uint64_t begin = now_ns();
    for (int i = 0; i < BATCH; i++) {
      fill_in(1, i == BATCH - 1);
      post();
    }
    spent += now_ns() - begin;
    take(1);
  }
  return spent;
}

/* Measures requests that are posted as a list by one call. */
static uint64_t list_post(int calls) {
  uint64_t spent = 0;
  for (int done = 0; done < calls; done += BATCH) {
    uint64_t begin = now_ns();
    fill_in(BATCH, 0);
    requests[BATCH - 1].send_flags = IBV_SEND_SIGNALED;
    post();
    spent += now_ns() - begin;
    take(1);
  }
  return spent;
}

/* Measures polls of completions that are already available. */
static uint64_t full_poll(int calls) {
  uint64_t spent = 0;
  for (int done = 0; done < calls; done += BATCH) {
    fill_in(BATCH, 1);
    post();
    uint64_t begin = now_ns();
    take(BATCH);
    spent += now_ns() - begin;
  }
  return spent;
}

static uint64_t post_and_poll(int calls) {
  uint64_t begin = now_ns();
  for (int i = 0; i < calls; i++) {
    fill_in(1, 1);
    post();
    take(1);
  }
  return now_ns() - begin;
}

static const struct {
  const char *name;
  uint64_t (*run)(int calls);
} cases[] = {{"empty_poll", empty_poll},
             {"single_post", single_post},
             {"list_post", list_post},
             {"full_poll", full_poll},
             {"post_and_poll", post_and_poll}};

static int compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

/* Returns the median of the batches in nanoseconds per call; the mean would include preemptions. */
static double round_of(uint64_t (*run)(int calls)) {
  static uint64_t spent[MOST_BATCHES];
  size_t count = 0;
  for (uint64_t begin = now_ns(); count < MOST_BATCHES && now_ns() - begin < ROUND_NS;)
    spent[count++] = run(BATCH_CALLS);
  qsort(spent, count, sizeof *spent, compare);
  return (double)spent[count / 2] / BATCH_CALLS;
}

int main(void) {
  char line[64];
  set_up();
  while (fgets(line, sizeof line, stdin) != NULL) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      printf("%s %.3f\n", cases[i].name, round_of(cases[i].run));
    }
    printf("end\n");
    fflush(stdout);
  }
  return 0;
}
