/*
 * Two ends of a connection. The first end is in this process. The second end is in this process too, or in a child
 * process on another host of the fabric, which follows orders. A test is a function, and main runs the tests that its
 * arguments name.
 */
#ifndef STANDIN_HARNESS_H
#define STANDIN_HARNESS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHECK(condition, ...) \
  do { \
    if (!(condition)) fail(__FILE__, __LINE__, #condition, __VA_ARGS__); \
  } while (0)

_Noreturn void fail(const char *file, int line, const char *condition, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

enum { BUFFER_BYTES = 1 << 22, DEPTH = 64 };

/* Parameters of an end that the other end needs to connect. */
struct address {
  uint32_t number, psn, key;
  uint64_t buffer;
  union ibv_gid gid;
};

struct options {
  uint32_t depth, queue_entries, inline_bytes, device;
  int access, pair_access, gid_index, rnr_timer, rnr_retry, timeout, retries, reads;
  enum ibv_mtu mtu;
  bool signals_all;
};
struct options usual_options(void);

struct end {
  struct ibv_context *context;
  struct ibv_pd *pd;
  struct ibv_cq *cq;
  struct ibv_qp *qp;
  struct ibv_mr *mr;
  uint8_t *buffer;
  struct options options;
};

struct end *open_end(const struct options *options);
void close_end(struct end *end);
struct address address_of(const struct end *end);
int to_init(struct end *end);
int to_receive(struct end *end, const struct address *peer);
int to_send(struct end *end);
void connect_end(struct end *end, const struct address *peer);
int to_state(struct end *end, enum ibv_qp_state state);
enum ibv_qp_state state_of(struct end *end);

/* Returns a work request over the end's own buffer. */
struct ibv_send_wr request(enum ibv_wr_opcode opcode, uint64_t id, struct ibv_sge *sge, const struct address *peer,
                           uint64_t offset);
struct ibv_sge piece(const struct end *end, uint64_t offset, uint32_t length);
int post(struct end *end, struct ibv_send_wr *request);
int post_receive_of(struct end *end, uint64_t id, uint64_t offset, uint32_t length);
/* Returns the next completion. Fails the test if none comes within the time. */
struct ibv_wc await(struct end *end, int milliseconds);
/* Checks that no completion comes within the time. */
void await_nothing(struct end *end, int milliseconds);
/* Returns the next asynchronous event except COMM_EST, and acknowledges it. */
enum ibv_event_type await_event(struct end *end, int milliseconds);

/* ---- the second end ---- */

struct second;
struct second *start_second(const struct options *options, bool in_child);
void stop_second(struct second *second);
void kill_second(struct second *second);
struct address second_address(struct second *second);
void second_connect(struct second *second, const struct address *peer);
int second_receive(struct second *second, uint64_t id, uint64_t offset, uint32_t length);
struct ibv_wc second_await(struct second *second);
void second_fill(struct second *second, uint64_t offset, uint32_t length, uint32_t seed);
/* Returns the index at which the buffer first differs from the pattern of fill(), or `length` if it is equal. */
uint32_t second_compare(struct second *second, uint64_t offset, uint32_t length, uint32_t seed);
enum ibv_qp_state second_state(struct second *second);
int second_to_state(struct second *second, enum ibv_qp_state state);
enum ibv_event_type second_event(struct second *second);

void fill(uint8_t *bytes, uint32_t length, uint32_t seed);
uint32_t compare(const uint8_t *bytes, uint32_t length, uint32_t seed);

/* A pair of connected ends. */
struct couple {
  struct end *first;
  struct second *second;
  struct address near, far;
};
struct couple couple(const struct options *options, bool in_child);
void close_couple(struct couple couple);

/* Runs the control program on the test's fabric. A failure fails the test. */
void control(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t clock_ns(void);

struct test {
  const char *name;
  void (*run)(bool in_child);
};
/* Runs each test twice, each time in its own process and fabric: with both ends in one process, and in two. */
int run_tests(const struct test *tests, int count, char **words);

#endif
