#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void fail(const char *file, int line, const char *condition, const char *format, ...) {
  va_list arguments;
  fprintf(stderr, "%s:%d: %s: ", file, line, condition);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

uint64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct options usual_options(void) {
  return (struct options){.depth = DEPTH,
                          .queue_entries = 4 * DEPTH,
                          .inline_bytes = 256,
                          .gid_index = 1,
                          .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
                          .pair_access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
                          .rnr_timer = 12,
                          .rnr_retry = 7,
                          .timeout = 10,
                          .retries = 3,
                          .reads = 4,
                          .mtu = IBV_MTU_4096,
                          .signals_all = true};
}

/* ---- one end ---- */

struct end *open_end(const struct options *options) {
  int count = 0;
  struct ibv_device **list = ibv_get_device_list(&count);
  CHECK(list != NULL && (uint32_t)count > options->device, "%d devices, errno %d", count, errno);
  struct end *end = calloc(1, sizeof *end);
  end->options = *options;
  end->context = ibv_open_device(list[options->device]);
  CHECK(end->context != NULL, "errno %d", errno);
  ibv_free_device_list(list);
  end->pd = ibv_alloc_pd(end->context);
  end->cq = ibv_create_cq(end->context, (int)options->queue_entries, NULL, NULL, 0);
  CHECK(end->pd != NULL && end->cq != NULL, "errno %d", errno);
  end->buffer = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  end->mr = ibv_reg_mr(end->pd, end->buffer, BUFFER_BYTES, options->access);
  CHECK(end->mr != NULL, "errno %d", errno);
  struct ibv_qp_init_attr wanted = {.send_cq = end->cq,
                                    .recv_cq = end->cq,
                                    .qp_type = IBV_QPT_RC,
                                    .sq_sig_all = options->signals_all,
                                    .cap = {.max_send_wr = options->depth,
                                            .max_recv_wr = options->depth,
                                            .max_send_sge = 4,
                                            .max_recv_sge = 4,
                                            .max_inline_data = options->inline_bytes}};
  end->qp = ibv_create_qp(end->pd, &wanted);
  CHECK(end->qp != NULL, "errno %d", errno);
  return end;
}

void close_end(struct end *end) {
  CHECK(ibv_destroy_qp(end->qp) == 0, "qp");
  CHECK(ibv_dereg_mr(end->mr) == 0, "mr");
  CHECK(ibv_destroy_cq(end->cq) == 0, "cq");
  CHECK(ibv_dealloc_pd(end->pd) == 0, "pd");
  CHECK(ibv_close_device(end->context) == 0, "context");
  munmap(end->buffer, BUFFER_BYTES);
  free(end);
}

struct address address_of(const struct end *end) {
  struct address address = {.number = end->qp->qp_num,
                            .psn = end->qp->qp_num * 77 & 0xffffff,
                            .key = end->mr->rkey,
                            .buffer = (uintptr_t)end->buffer};
  CHECK(ibv_query_gid(end->context, 1, end->options.gid_index, &address.gid) == 0, "errno %d", errno);
  return address;
}

int to_init(struct end *end) {
  struct ibv_qp_attr wanted = {
      .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = (unsigned)end->options.pair_access};
  return ibv_modify_qp(end->qp, &wanted, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int to_receive(struct end *end, const struct address *peer) {
  struct ibv_qp_attr wanted = {
      .qp_state = IBV_QPS_RTR,
      .path_mtu = end->options.mtu,
      .dest_qp_num = peer->number,
      .rq_psn = peer->psn,
      .max_dest_rd_atomic = (uint8_t)end->options.reads,
      .min_rnr_timer = (uint8_t)end->options.rnr_timer,
      .ah_attr = {.is_global = 1,
                  .port_num = 1,
                  .grh = {.dgid = peer->gid, .sgid_index = (uint8_t)end->options.gid_index, .hop_limit = 64}}};
  return ibv_modify_qp(end->qp, &wanted,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int to_send(struct end *end) {
  struct ibv_qp_attr wanted = {.qp_state = IBV_QPS_RTS,
                               .sq_psn = address_of(end).psn,
                               .timeout = (uint8_t)end->options.timeout,
                               .retry_cnt = (uint8_t)end->options.retries,
                               .rnr_retry = (uint8_t)end->options.rnr_retry,
                               .max_rd_atomic = (uint8_t)end->options.reads};
  return ibv_modify_qp(end->qp, &wanted,
                       IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_MAX_QP_RD_ATOMIC);
}

void connect_end(struct end *end, const struct address *peer) {
  int init = to_init(end), receive = to_receive(end, peer), send = to_send(end);
  CHECK(init == 0 && receive == 0 && send == 0, "init %d, receive %d, send %d", init, receive, send);
}

int to_state(struct end *end, enum ibv_qp_state state) {
  struct ibv_qp_attr wanted = {.qp_state = state};
  return ibv_modify_qp(end->qp, &wanted, IBV_QP_STATE);
}

enum ibv_qp_state state_of(struct end *end) {
  struct ibv_qp_attr found;
  struct ibv_qp_init_attr created;
  CHECK(ibv_query_qp(end->qp, &found, IBV_QP_STATE, &created) == 0, "query");
  return found.qp_state;
}

struct ibv_sge piece(const struct end *end, uint64_t offset, uint32_t length) {
  return (struct ibv_sge){.addr = (uintptr_t)end->buffer + offset, .length = length, .lkey = end->mr->lkey};
}

struct ibv_send_wr request(enum ibv_wr_opcode opcode, uint64_t id, struct ibv_sge *sge, const struct address *peer,
                           uint64_t offset) {
  return (struct ibv_send_wr){.wr_id = id,
                              .opcode = opcode,
                              .sg_list = sge,
                              .num_sge = sge == NULL ? 0 : 1,
                              .wr.rdma = {.remote_addr = peer->buffer + offset, .rkey = peer->key}};
}

int post(struct end *end, struct ibv_send_wr *request) {
  struct ibv_send_wr *bad = NULL;
  return ibv_post_send(end->qp, request, &bad);
}

int post_receive_of(struct end *end, uint64_t id, uint64_t offset, uint32_t length) {
  struct ibv_sge sge = piece(end, offset, length);
  struct ibv_recv_wr wanted = {.wr_id = id, .sg_list = &sge, .num_sge = length == 0 ? 0 : 1}, *bad = NULL;
  return ibv_post_recv(end->qp, &wanted, &bad);
}

static bool poll_until(struct end *end, int milliseconds, struct ibv_wc *completion) {
  uint64_t until = clock_ns() + (uint64_t)milliseconds * 1000000u;
  do {
    int found = ibv_poll_cq(end->cq, 1, completion);
    CHECK(found >= 0, "poll returned %d", found);
    if (found == 1) return true;
  } while (clock_ns() < until);
  return false;
}

struct ibv_wc await(struct end *end, int milliseconds) {
  struct ibv_wc completion;
  CHECK(poll_until(end, milliseconds, &completion), "no completion within %d ms", milliseconds);
  return completion;
}

void await_nothing(struct end *end, int milliseconds) {
  struct ibv_wc completion;
  CHECK(!poll_until(end, milliseconds, &completion), "completion of %llu with status %d",
        (unsigned long long)completion.wr_id, completion.status);
}

enum ibv_event_type await_event(struct end *end, int milliseconds) {
  for (;;) {
    struct pollfd readable = {.fd = end->context->async_fd, .events = POLLIN};
    CHECK(poll(&readable, 1, milliseconds) == 1, "no event within %d ms", milliseconds);
    struct ibv_async_event event;
    CHECK(ibv_get_async_event(end->context, &event) == 0, "errno %d", errno);
    ibv_ack_async_event(&event);
    if (event.event_type != IBV_EVENT_COMM_EST) return event.event_type;
  }
}

void fill(uint8_t *bytes, uint32_t length, uint32_t seed) {
  for (uint32_t i = 0; i < length; i++) bytes[i] = (uint8_t)((i * 131 + (i >> 8) * 7 + seed * 29 + 1) % 251);
}

uint32_t compare(const uint8_t *bytes, uint32_t length, uint32_t seed) {
  for (uint32_t i = 0; i < length; i++) {
    if (bytes[i] != (uint8_t)((i * 131 + (i >> 8) * 7 + seed * 29 + 1) % 251)) return i;
  }
  return length;
}

/* ---- the second end ---- */

enum command { ADDRESS, CONNECT, RECEIVE, AWAIT, FILL, COMPARE, STATE, TO_STATE, EVENT, STOP };

struct order {
  enum command command;
  struct address peer;
  uint64_t id, offset;
  uint32_t length, seed, state;
};

struct answer {
  struct address address;
  struct ibv_wc completion;
  uint32_t value;
};

struct second {
  struct end *end; /* the second end is in this process */
  pid_t child;
  int socket;
};

static struct answer execute_order(struct end *end, const struct order *order) {
  struct answer answer = {0};
  switch (order->command) {
    case ADDRESS: answer.address = address_of(end); break;
    case CONNECT: connect_end(end, &order->peer); break;
    case RECEIVE: answer.value = (uint32_t)post_receive_of(end, order->id, order->offset, order->length); break;
    case AWAIT: answer.completion = await(end, 10000); break;
    case FILL: fill(end->buffer + order->offset, order->length, order->seed); break;
    case COMPARE: answer.value = compare(end->buffer + order->offset, order->length, order->seed); break;
    case STATE: answer.value = state_of(end); break;
    case TO_STATE: answer.value = (uint32_t)to_state(end, (enum ibv_qp_state)order->state); break;
    case EVENT: answer.value = await_event(end, 5000); break;
    case STOP: break;
  }
  return answer;
}

static struct answer send_order(struct second *second, struct order order) {
  if (second->end != NULL) return execute_order(second->end, &order);
  struct answer answer;
  CHECK(write(second->socket, &order, sizeof order) == sizeof order, "errno %d", errno);
  CHECK(read(second->socket, &answer, sizeof answer) == sizeof answer, "the second process ended");
  return answer;
}

static _Noreturn void serve(int socket, const struct options *options) {
  setenv("STANDIN_HOST", "1", 1);
  struct end *end = open_end(options);
  struct order order = {.command = ADDRESS};
  while (order.command != STOP && read(socket, &order, sizeof order) == sizeof order) {
    struct answer answer = execute_order(end, &order);
    if (order.command == STOP) close_end(end);
    CHECK(write(socket, &answer, sizeof answer) == sizeof answer, "errno %d", errno);
  }
  exit(0);
}

struct second *start_second(const struct options *options, bool in_child) {
  struct second *second = calloc(1, sizeof *second);
  if (!in_child) {
    second->end = open_end(options);
    return second;
  }
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0, "errno %d", errno);
  second->child = fork();
  if (second->child == 0) {
    close(ends[0]); /* the first process's socket: with a copy here, the child's input would never end */
    free(second);
    serve(ends[1], options);
  }
  close(ends[1]);
  second->socket = ends[0];
  return second;
}

/* Waits for the end of the second process and returns its wait status. */
static int collect(struct second *second) {
  int status = -1;
  CHECK(waitpid(second->child, &status, 0) == second->child, "errno %d", errno);
  close(second->socket);
  return status;
}

void stop_second(struct second *second) {
  if (second->end != NULL)
    close_end(second->end);
  else if (second->child != 0) {
    send_order(second, (struct order){.command = STOP});
    int status = collect(second);
    CHECK(status == 0, "the second process ended with status %#x", (unsigned)status);
  }
  free(second);
}

void kill_second(struct second *second) {
  kill(second->child, SIGKILL);
  collect(second);
  second->child = 0;
}

struct address second_address(struct second *second) {
  return send_order(second, (struct order){.command = ADDRESS}).address;
}

void second_connect(struct second *second, const struct address *peer) {
  send_order(second, (struct order){.command = CONNECT, .peer = *peer});
}

int second_receive(struct second *second, uint64_t id, uint64_t offset, uint32_t length) {
  return (int)send_order(second, (struct order){.command = RECEIVE, .id = id, .offset = offset, .length = length})
      .value;
}

struct ibv_wc second_await(struct second *second) {
  return send_order(second, (struct order){.command = AWAIT}).completion;
}

void second_fill(struct second *second, uint64_t offset, uint32_t length, uint32_t seed) {
  send_order(second, (struct order){.command = FILL, .offset = offset, .length = length, .seed = seed});
}

uint32_t second_compare(struct second *second, uint64_t offset, uint32_t length, uint32_t seed) {
  return send_order(second, (struct order){.command = COMPARE, .offset = offset, .length = length, .seed = seed}).value;
}

enum ibv_qp_state second_state(struct second *second) {
  return (enum ibv_qp_state)send_order(second, (struct order){.command = STATE}).value;
}

int second_to_state(struct second *second, enum ibv_qp_state state) {
  return (int)send_order(second, (struct order){.command = TO_STATE, .state = state}).value;
}

enum ibv_event_type second_event(struct second *second) {
  return (enum ibv_event_type)send_order(second, (struct order){.command = EVENT}).value;
}

/* The child is forked before this process opens a device: a fork wouldn't copy the stand-in library's thread. */
struct couple couple(const struct options *options, bool in_child) {
  struct couple both = {.second = start_second(options, in_child)};
  both.first = open_end(options);
  both.near = address_of(both.first);
  both.far = second_address(both.second);
  second_connect(both.second, &both.near);
  connect_end(both.first, &both.far);
  return both;
}

void close_couple(struct couple couple) {
  close_end(couple.first);
  stop_second(couple.second);
}

/* ---- tests ---- */

void control(const char *format, ...) {
  char words[512], command[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  const char *program = getenv("STANDIN_CONTROL");
  CHECK(program != NULL, "STANDIN_CONTROL must name the control program");
  snprintf(command, sizeof command, "'%s' %s", program, words);
  CHECK(system(command) == 0, "%s", command);
}

static bool passes(const struct test *test, bool in_child) {
  char folder[] = "/dev/shm/standin-test-XXXXXX", file[64];
  if (mkdtemp(folder) == NULL) return false;
  snprintf(file, sizeof file, "%s/fabric", folder);
  pid_t child = fork();
  if (child == 0) {
    setenv("STANDIN_FABRIC", file, 1);
    setenv("STANDIN_ADDRESSES", "4", 0);
    alarm(60);
    test->run(in_child);
    exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  bool removed = access(file, F_OK) != 0;
  unlink(file);
  rmdir(folder);
  printf("%s %s, %s\n", status == 0 && removed ? "ok" : "not ok", test->name,
         in_child ? "two processes" : "one process");
  if (status == 0 && !removed) printf("  it left its fabric behind\n");
  if (WIFSIGNALED(status)) printf("  it ended by signal %d\n", WTERMSIG(status));
  fflush(stdout);
  return status == 0 && removed;
}

int run_tests(const struct test *tests, int count, char **words) {
  bool all = true;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (const struct test *test = tests; test->name != NULL; test++) {
    bool wanted = count < 2;
    for (int i = 1; i < count; i++) wanted = wanted || strcmp(words[i], test->name) == 0;
    if (!wanted) continue;
    all = passes(test, false) && all;
    all = passes(test, true) && all;
  }
  return all ? 0 : 1;
}
