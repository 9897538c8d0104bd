/*
 * Cost of a net plugin's calls: one thread sends messages to itself, over a device on which posts complete at once
 * (verbs-standin with STANDIN_INSTANT=1), so that only the plugin's own work remains.
 *
 * Reads orders from standard input, one per line, so that several plugins can be measured in turn.
 * Each answer ends with "end":
 *   round      the thread's CPU time per operation of each case, in ns: "case name ns"
 *   soak MS    messages for MS milliseconds, each call timed
 *   report     results of the soaks since the last report, "calls name count p50 p99 p99.9 p99.99 p99.999 most", in
 *   ns; "messages count"
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "net_plugin.h"
#include "report.h"

enum {
  MOST = 32,
  TAG = 7,
  SMALL = 8,
  CHUNK_BYTES = 64 << 10,
  CHUNKS = 8,
  BUFFER_BYTES = CHUNKS * CHUNK_BYTES,
  ROUND_NS = 20000000
};

static const uint64_t PATIENCE_NS = 10000000000u;
static struct net_plugin net;
static void *send_comm, *receive_comm;
static unsigned char *outgoing, *incoming;
static void *outgoing_memory, *incoming_memory;
static uint64_t sent; /* number of messages sent; each message contains its number */

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns the CPU time of this thread, which excludes the time of other threads on its core. */
static uint64_t spent_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Least time between two readings of the thread's CPU clock. Each reading is a system call. */
static uint64_t clock_ns = UINT64_MAX;

static void measure_clock(void) {
  for (int i = 0; i < 10000; i++) {
    uint64_t begin = spent_ns(), took = spent_ns() - begin;
    if (took < clock_ns) clock_ns = took;
  }
}

/* ---- results of the soaks: values with a resolution of 1/32 ---- */

enum { SUB = 32, BUCKETS = 60 * SUB };

static struct histogram {
  const char *name;
  uint64_t count, most, buckets[BUCKETS];
} of_isend = {.name = "isend"}, of_irecv = {.name = "irecv"}, of_test = {.name = "test"};

static void add_value(struct histogram *to, uint64_t value) {
  int shift = value < 2 * SUB ? 0 : 58 - __builtin_clzll(value);
  to->buckets[shift * SUB + (int)(value >> shift)]++;
  to->count++;
  if (value > to->most) to->most = value;
}

static uint64_t quantile(const struct histogram *from, double share) {
  uint64_t wanted = (uint64_t)(share * (double)from->count), seen = 0;
  for (int i = 0; i < BUCKETS; i++) {
    seen += from->buckets[i];
    if (seen > wanted) {
      int shift = i < 2 * SUB ? 0 : i / SUB - 1;
      return ((uint64_t)(i - shift * SUB) + 1) << shift;
    }
  }
  return from->most;
}

static void print_histogram(struct histogram *from) {
  printf("calls %s %lu %lu %lu %lu %lu %lu %lu\n", from->name, from->count, quantile(from, 0.5), quantile(from, 0.99),
         quantile(from, 0.999), quantile(from, 0.9999), quantile(from, 0.99999), from->most);
  *from = (struct histogram){.name = from->name};
}

/* ---- the plugin's calls ---- */

/*
 * Ends the process if a call would still block after 10 s. It may block for a moment, while another thread holds the
 * connection.
 */
static void check_deadline(uint64_t *deadline, const char *what) {
  if (*deadline == 0) *deadline = now_ns() + PATIENCE_NS;
  if (now_ns() > *deadline) fail_with(EXIT_TIMED_OUT, "%s makes no progress for 10 s", what);
}

static void *receive(size_t bytes) {
  void *request = NULL, *data = incoming;
  int tag = TAG;
  for (uint64_t deadline = 0;; check_deadline(&deadline, "irecv")) {
    check(net_irecv(&net, receive_comm, 1, &data, &bytes, &tag, &incoming_memory, &request), "irecv");
    if (request != NULL) return request;
  }
}

static void *send(size_t bytes) {
  void *request = NULL;
  memcpy(outgoing, &sent, sizeof sent);
  sent++;
  for (uint64_t deadline = 0;; check_deadline(&deadline, "isend")) {
    check(net_isend(&net, send_comm, outgoing, bytes, TAG, outgoing_memory, &request), "isend");
    if (request != NULL) return request;
  }
}

static int is_done(void *request, size_t bytes) {
  int done = 0, size = -1;
  check(net_test(&net, request, &done, &size), "test");
  if (done && (size_t)size != bytes)
    fail_with(EXIT_WRONG_DATA, "a message of %zu bytes is reported with %d", bytes, size);
  return done;
}

static void finish(void *request, size_t bytes) {
  for (uint64_t deadline = 0; !is_done(request, bytes);) check_deadline(&deadline, "test");
}

/* Checks the number in the received message. Not for large messages, whose bytes the device doesn't copy. */
static void check_arrived(void) {
  uint64_t number;
  memcpy(&number, incoming, sizeof number);
  if (number != sent - 1) fail_with(EXIT_WRONG_DATA, "message %lu carries %lu", sent - 1, number);
}

/* ---- cases: nanoseconds of `count` calls ---- */

static uint64_t one_message(int count) {
  uint64_t begin = spent_ns();
  for (int i = 0; i < count; i++) {
    void *in = receive(SMALL), *out = send(SMALL);
    finish(out, SMALL);
    finish(in, SMALL);
    check_arrived();
  }
  return spent_ns() - begin;
}

static uint64_t eight_messages(int count) {
  void *in[8], *out[8];
  uint64_t begin = spent_ns();
  for (int done = 0; done < count; done += 8) {
    for (int i = 0; i < 8; i++) in[i] = receive(SMALL);
    for (int i = 0; i < 8; i++) out[i] = send(SMALL);
    for (int i = 0; i < 8; i++) finish(out[i], SMALL);
    for (int i = 0; i < 8; i++) finish(in[i], SMALL);
    check_arrived();
  }
  return spent_ns() - begin;
}

static uint64_t sends_of(int count, size_t bytes) {
  void *in[MOST], *out[MOST];
  uint64_t spent = 0;
  for (int done = 0; done < count; done += MOST) {
    for (int i = 0; i < MOST; i++) in[i] = receive(bytes);
    uint64_t begin = spent_ns();
    for (int i = 0; i < MOST; i++) out[i] = send(bytes);
    spent += spent_ns() - begin - clock_ns;
    for (int i = 0; i < MOST; i++) finish(out[i], bytes);
    for (int i = 0; i < MOST; i++) finish(in[i], bytes);
  }
  return spent;
}

static uint64_t isend_one_chunk(int count) { return sends_of(count, SMALL); }

static uint64_t isend_eight_chunks(int count) { return sends_of(count, BUFFER_BYTES); }

static uint64_t irecv(int count) {
  void *in[MOST], *out[MOST];
  uint64_t spent = 0;
  for (int done = 0; done < count; done += MOST) {
    uint64_t begin = spent_ns();
    for (int i = 0; i < MOST; i++) in[i] = receive(SMALL);
    spent += spent_ns() - begin - clock_ns;
    for (int i = 0; i < MOST; i++) out[i] = send(SMALL);
    for (int i = 0; i < MOST; i++) finish(out[i], SMALL);
    for (int i = 0; i < MOST; i++) finish(in[i], SMALL);
  }
  return spent;
}

static uint64_t tests_not_ready(int count, int requests) {
  void *in[MOST];
  for (int i = 0; i < requests; i++) in[i] = receive(SMALL);
  uint64_t begin = spent_ns();
  for (int done = 0; done < count; done += requests) {
    for (int i = 0; i < requests; i++) {
      if (is_done(in[i], SMALL)) fail_with(EXIT_WRONG_DATA, "a receive without a send is done");
    }
  }
  uint64_t spent = spent_ns() - begin;
  for (int i = 0; i < requests; i++) finish(send(SMALL), SMALL);
  for (int i = 0; i < requests; i++) finish(in[i], SMALL);
  return spent;
}

static uint64_t test_not_ready_alone(int count) { return tests_not_ready(count, 1); }

static uint64_t test_not_ready_of_32(int count) { return tests_not_ready(count, MOST); }

static int answer_nothing(void *request, int *done, int *size) {
  (void)request, (void)size;
  *done = 0;
  return 0;
}

/* Measures calls of an empty function through a pointer, with the same checks as for `test`. */
static uint64_t indirect_call(int count) {
  int (*volatile call)(void *, int *, int *) = answer_nothing;
  uint64_t begin = spent_ns();
  for (int i = 0; i < count; i++) {
    int done = 1, size = -1;
    check(call(NULL, &done, &size), "call");
    if (done) fail_with(EXIT_WRONG_DATA, "done");
  }
  return spent_ns() - begin;
}

static const struct {
  const char *name;
  uint64_t (*run)(int count);
} cases[] = {{"message", one_message},
             {"message_of_8", eight_messages},
             {"isend_1_chunk", isend_one_chunk},
             {"isend_8_chunks", isend_eight_chunks},
             {"irecv", irecv},
             {"test_not_ready", test_not_ready_alone},
             {"test_not_ready_of_32", test_not_ready_of_32},
             {"indirect_call", indirect_call}};

static void round_of_cases(void) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t spent = 0, count = 0;
    for (uint64_t begin = now_ns(); now_ns() - begin < ROUND_NS; count += 1024) spent += cases[i].run(1024);
    printf("case %s %.3f\n", cases[i].name, (double)spent / (double)count);
  }
}

/* ---- soak ---- */

static void finish_timed(void *request) {
  for (int i = 0; i < 1000; i++) {
    uint64_t begin = now_ns();
    int done = is_done(request, SMALL);
    add_value(&of_test, now_ns() - begin);
    if (done) return;
  }
  fail_with(EXIT_TIMED_OUT, "a request isn't done after 1000 tests");
}

static void soak(double milliseconds) {
  uint64_t end = now_ns() + (uint64_t)(milliseconds * 1e6), now;
  do {
    uint64_t begin = now_ns();
    void *in = receive(SMALL);
    uint64_t between = now_ns();
    void *out = send(SMALL);
    now = now_ns();
    add_value(&of_irecv, between - begin);
    add_value(&of_isend, now - between);
    finish_timed(out);
    finish_timed(in);
    check_arrived();
  } while (now < end);
}

/* ---- the process ---- */

static void connect_to_self(void) {
  char handle[NET_HANDLE_BYTES];
  void *listen_comm;
  check(net_listen(&net, 0, handle, &listen_comm), "listen");
  double start = now_seconds();
  while (send_comm == NULL || receive_comm == NULL) {
    if (send_comm == NULL) check(net_connect(&net, 0, handle, &send_comm), "connect");
    if (receive_comm == NULL) check(net_accept(&net, listen_comm, &receive_comm), "accept");
    if (now_seconds() - start > 60) fail_with(EXIT_TIMED_OUT, "no connection within a minute");
    usleep(100);
  }
  check(net_register(&net, send_comm, outgoing, BUFFER_BYTES, &outgoing_memory), "regMr");
  check(net_register(&net, receive_comm, incoming, BUFFER_BYTES, &incoming_memory), "regMr");
  check(net_close_listen(&net, listen_comm), "closeListen");
}

static void disconnect(void) {
  check(net_deregister(&net, send_comm, outgoing_memory), "deregMr");
  check(net_deregister(&net, receive_comm, incoming_memory), "deregMr");
  check(net_close_send(&net, send_comm), "closeSend");
  check(net_close_receive(&net, receive_comm), "closeRecv");
}

int main(int argc, char **argv) {
  char line[64];
  double milliseconds;
  if (argc != 2) fail_with(EXIT_BAD_USAGE, "usage: heddle-call-cost PLUGIN; orders come on standard input");
  outgoing = aligned_alloc(4096, BUFFER_BYTES);
  incoming = aligned_alloc(4096, BUFFER_BYTES);
  if (outgoing == NULL || incoming == NULL) fail_with(EXIT_BAD_USAGE, "no memory");
  memset(outgoing, 1, BUFFER_BYTES);
  memset(incoming, 0, BUFFER_BYTES);
  if (net_load(&net, argv[1], 0, NULL) != 0) return EXIT_PLUGIN_ERROR;
  connect_to_self();
  measure_clock();
  printf("ready %d %s\n", (int)getpid(), net.name);
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (strcmp(line, "round\n") == 0) {
      round_of_cases();
    } else if (sscanf(line, "soak %lf", &milliseconds) == 1) {
      soak(milliseconds);
    } else if (strcmp(line, "report\n") == 0) {
      print_histogram(&of_isend);
      print_histogram(&of_irecv);
      print_histogram(&of_test);
      printf("messages %lu\n", sent);
    } else {
      fail_with(EXIT_BAD_USAGE, "unknown order: %s", line);
    }
    printf("end\n");
    fflush(stdout);
  }
  disconnect();
  return 0;
}
