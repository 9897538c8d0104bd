/*
 * Bandwidth and latency of a net plugin between two processes, message size by message size. Rank 0 sends and rank 1
 * receives; in a duplex run both ranks send and receive. Every measurement lasts a set time, in which the receiver
 * counts the messages that arrive. A bandwidth run may have several flows, each with its own communicators; one thread
 * serves all flows in turn.
 *
 * With --turns, a process waits for a line on standard input before each measurement and uses no core meanwhile.
 * Several plugins, each already warmed up in its own pair of processes, can thus be measured in turn.
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net_plugin.h"
#include "plugin_perf_options.h"
#include "rendezvous.h"
#include "report.h"

#define WINDOW_BYTES (32u << 20) /* large messages share slots, since their contents are equal */
#define MOST_ROUND_TRIPS 1000000
#define TAG 3

/* One communicator in each direction, like a channel of NCCL's. */
struct flow {
  void *listen_comm, *send_comm, *receive_comm;
  void *outgoing_memory, *incoming_memory;
  unsigned char *incoming;
};

static struct net_plugin net;
static struct flow flows[MOST_FLOWS];
static unsigned char *outgoing; /* buffer from which all flows send */
static size_t window_bytes;     /* bytes of a flow's window */
static double *round_trips;     /* seconds of each round trip, or of each message of a stream */
static size_t timed;            /* number of recorded times */

static void open_flow(struct flow *flow, int number) {
  char name[32], handle[NET_HANDLE_BYTES], other_handle[NET_HANDLE_BYTES];
  snprintf(name, sizeof name, "handle%d", number);
  check(net_listen(&net, options.device, handle, &flow->listen_comm), "listen");
  if (rendezvous_put(options.folder, name, options.rank, handle, sizeof handle) != 0) _exit(EXIT_BAD_USAGE);
  if (rendezvous_get(options.folder, name, 1 - options.rank, other_handle, sizeof other_handle,
                     options.timeout_seconds) != 0) {
    _exit(EXIT_TIMED_OUT);
  }
  double start = now_seconds();
  while (flow->send_comm == NULL || flow->receive_comm == NULL) {
    if (flow->send_comm == NULL) {
      check(net_connect(&net, options.device, other_handle, &flow->send_comm), "connect");
    }
    if (flow->receive_comm == NULL) check(net_accept(&net, flow->listen_comm, &flow->receive_comm), "accept");
    if (now_seconds() - start > options.timeout_seconds) fail_with(EXIT_TIMED_OUT, "no connection in time");
    usleep(100);
  }
  check(net_register(&net, flow->send_comm, outgoing, window_bytes, &flow->outgoing_memory), "regMr");
  check(net_register(&net, flow->receive_comm, flow->incoming, window_bytes, &flow->incoming_memory), "regMr");
}

static void *serve(void *unused) {
  (void)unused;
  for (int i = 0; i < options.flows; i++) open_flow(&flows[i], i);
  return NULL;
}

static void close_flow(struct flow *flow) {
  check(net_deregister(&net, flow->send_comm, flow->outgoing_memory), "deregMr");
  check(net_deregister(&net, flow->receive_comm, flow->incoming_memory), "deregMr");
  check(net_close_send(&net, flow->send_comm), "closeSend");
  check(net_close_receive(&net, flow->receive_comm), "closeRecv");
  check(net_close_listen(&net, flow->listen_comm), "closeListen");
}

/* ---- data: a slot's contents depend on its index only, so all messages of a slot are equal ---- */

static unsigned char byte_at(size_t place) { return (unsigned char)((place * 2654435761u) >> 13 | 1); }

static size_t slot_of(unsigned long message, size_t bytes) {
  size_t slots = window_bytes / bytes;
  if (slots > (size_t)options.outstanding) slots = (size_t)options.outstanding;
  return message % slots * bytes;
}

static void clear_incoming(const struct flow *flow, size_t bytes) {
  size_t slots = window_bytes / bytes;
  if (slots > (size_t)options.outstanding) slots = (size_t)options.outstanding;
  memset(flow->incoming, 0, slots * bytes);
}

static void check_incoming(const struct flow *flow, unsigned long messages, size_t bytes) {
  if (messages == 0) return;
  size_t last = 0;
  for (unsigned long i = 0; i < messages && i < (unsigned long)options.outstanding; i++) {
    size_t slot = slot_of(i, bytes);
    if (slot + bytes > last) last = slot + bytes;
  }
  for (size_t i = 0; i < last; i++) {
    if (flow->incoming[i] != byte_at(i)) {
      fail_with(EXIT_WRONG_DATA, "of messages of %zu bytes, byte %zu is wrong", bytes, i % bytes);
    }
  }
}

/* ---- one direction of a stream: sends or receives, posted and tested in order ---- */

struct stream {
  struct flow *flow;
  size_t bytes;
  unsigned long posted, finished;
  void *requests[MOST_OUTSTANDING];
  double posted_at[MOST_OUTSTANDING];
  unsigned long closing;  /* empty messages sent or received; a stream ends with `outstanding` of them */
  unsigned long messages; /* number of finished messages that weren't empty */
  double first, last;     /* times when the first and the last non-empty message finished */
};

static int is_finished(const struct stream *stream) {
  return stream->closing == (unsigned long)options.outstanding && stream->posted == stream->finished;
}

/* Posts one send if there is room. Returns whether it has posted one. */
static int post_send(struct stream *stream, int ending) {
  unsigned long outstanding = (unsigned long)options.outstanding;
  if (stream->posted - stream->finished == outstanding || stream->closing == outstanding) return 0;
  void **request = &stream->requests[stream->posted % outstanding];
  *request = NULL;
  check(net_isend(&net, stream->flow->send_comm, outgoing + slot_of(stream->posted, stream->bytes),
                  ending ? 0 : stream->bytes, TAG, stream->flow->outgoing_memory, request),
        "isend");
  if (*request == NULL) return 0;
  stream->posted_at[stream->posted % outstanding] = now_seconds();
  stream->posted++;
  if (ending) stream->closing++;
  return 1;
}

static int post_receive(struct stream *stream) {
  unsigned long outstanding = (unsigned long)options.outstanding;
  /* After the first empty message, posts exactly as many receives as empty messages are still to come. */
  unsigned long room = stream->closing > 0 ? outstanding - stream->closing : outstanding;
  if (stream->posted - stream->finished >= room) return 0;
  void **request = &stream->requests[stream->posted % outstanding];
  void *data = stream->flow->incoming + slot_of(stream->posted, stream->bytes);
  size_t size = stream->bytes;
  int tag = TAG;
  *request = NULL;
  check(net_irecv(&net, stream->flow->receive_comm, 1, &data, &size, &tag, &stream->flow->incoming_memory, request),
        "irecv");
  if (*request == NULL) return 0;
  stream->posted++;
  return 1;
}

/* Tests the oldest request. Returns whether it has finished. */
static int test_oldest(struct stream *stream, int receiving) {
  if (stream->posted == stream->finished) return 0;
  int done = 0, size = -1;
  check(net_test(&net, stream->requests[stream->finished % (unsigned long)options.outstanding], &done, &size), "test");
  if (!done) return 0;
  stream->finished++;
  progress();
  if (receiving && size == 0) {
    stream->closing++;
    return 1;
  }
  if (receiving && (size_t)size != stream->bytes) {
    fail_with(EXIT_WRONG_DATA, "a message of %zu bytes is reported with %d", stream->bytes, size);
  }
  stream->last = now_seconds();
  if (!receiving) {
    if (stream->finished > stream->posted - stream->closing) return 1; /* an empty message */
    if (timed < MOST_ROUND_TRIPS) {
      round_trips[timed++] =
          stream->last - stream->posted_at[(stream->finished - 1) % (unsigned long)options.outstanding];
    }
  }
  if (stream->messages++ == 0) stream->first = stream->last;
  return 1;
}

static int move_incoming(struct stream *in) {
  int moved = 0;
  while (post_receive(in)) moved = 1;
  while (test_oldest(in, 1)) moved = 1;
  return moved;
}

static int move_outgoing(struct stream *out, int ending) {
  int moved = 0;
  while (post_send(out, ending)) moved = 1;
  while (test_oldest(out, 0)) moved = 1;
  return moved;
}

/* Runs the requested directions of all flows for this time. Sets `received` to the receiving stream of each flow. */
static void stream_for(double seconds, size_t bytes, int sending, int receiving, struct stream *received) {
  struct stream out[MOST_FLOWS];
  double end = now_seconds() + seconds;
  timed = 0;
  for (int i = 0; i < options.flows; i++) {
    out[i] = received[i] = (struct stream){.flow = &flows[i], .bytes = bytes};
    if (receiving) clear_incoming(&flows[i], bytes);
  }
  int ending = 0, running = 1;
  while (running) {
    int moved = 0;
    running = 0;
    if (sending && !ending) ending = now_seconds() >= end;
    for (int i = 0; i < options.flows; i++) {
      if (receiving && !is_finished(&received[i])) moved |= move_incoming(&received[i]), running = 1;
      if (sending && !is_finished(&out[i])) moved |= move_outgoing(&out[i], ending), running = 1;
    }
    if (running && !moved) sched_yield(); /* yields as NCCL's progress thread does */
  }
  for (int i = 0; receiving && i < options.flows; i++) check_incoming(&flows[i], received[i].messages, bytes);
}

/* ---- single messages, over the first flow ---- */

static void send_one(size_t bytes) {
  void *request = NULL;
  int done = 0;
  while (request == NULL) {
    check(net_isend(&net, flows->send_comm, outgoing, bytes, TAG, flows->outgoing_memory, &request), "isend");
    if (request == NULL) sched_yield();
  }
  while (!done) {
    check(net_test(&net, request, &done, NULL), "test");
    if (!done) sched_yield();
  }
}

/* Posts a receive ahead of its use, as NCCL does. */
static void *post_one(size_t bytes) {
  void *request = NULL, *data = flows->incoming;
  int tag = TAG;
  while (request == NULL) {
    check(net_irecv(&net, flows->receive_comm, 1, &data, &bytes, &tag, &flows->incoming_memory, &request), "irecv");
    if (request == NULL) sched_yield();
  }
  return request;
}

static int wait_one(void *request) {
  int done = 0, size = -1;
  while (!done) {
    check(net_test(&net, request, &done, &size), "test");
    if (!done) sched_yield();
  }
  progress();
  return size;
}

/* Synchronises the ranks: both return at the same time, within half a round trip. */
static void barrier(void) {
  void *request = post_one(1);
  if (options.rank == 0) send_one(0);
  wait_one(request);
  if (options.rank == 1) send_one(0);
}

/* Runs a ping-pong, which an empty ping ends. Returns the number of recorded round trips. */
static size_t ping_pong(double seconds, size_t bytes) {
  size_t count = 0;
  memset(flows->incoming, 0, bytes);
  void *request = post_one(bytes);
  if (options.rank == 0) {
    double start = now_seconds(), end = start + seconds;
    while (start < end && count < MOST_ROUND_TRIPS) {
      send_one(bytes);
      int size = wait_one(request);
      double now = now_seconds();
      if ((size_t)size != bytes) fail_with(EXIT_WRONG_DATA, "a message of %zu bytes is reported with %d", bytes, size);
      request = post_one(bytes);
      round_trips[count++] = now - start;
      start = now_seconds();
    }
    send_one(0);
    wait_one(request);
  } else {
    for (;;) {
      int size = wait_one(request);
      if (size == 0) break;
      count++;
      request = post_one(bytes);
      send_one(bytes);
    }
    send_one(0);
  }
  for (size_t i = 0; count > 0 && i < bytes; i++) {
    if (flows->incoming[i] != byte_at(i)) {
      fail_with(EXIT_WRONG_DATA, "of round trips of %zu bytes, byte %zu is wrong", bytes, i);
    }
  }
  return count;
}

/* ---- measurements ---- */

static void wait_for_turn(void) {
  if (!options.turns) return;
  char line[16];
  pause_watch(1);
  if (fgets(line, sizeof line, stdin) == NULL)
    fail_with(EXIT_BAD_USAGE, "--turns: standard input ended before the run");
  pause_watch(0);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/*
 * Returns the rate of a flow. Returns NaN if its messages arrived within less than half of the measured time, as after
 * a pause of the whole machine.
 */
static double received_a_second(const struct stream *received, size_t bytes) {
  double seconds = received->last - received->first;
  if (received->messages < 2 || seconds < options.seconds / 2) return NAN;
  return (double)(received->messages - 1) * (double)bytes / seconds;
}

static void measure_stream(int round, size_t bytes, int duplex) {
  struct stream received[MOST_FLOWS];
  int receiving = duplex || options.rank == 1;
  stream_for(options.seconds, bytes, duplex || options.rank == 0, receiving, received);
  double rate = 0;
  unsigned long messages = 0;
  for (int i = 0; receiving && i < options.flows; i++) {
    rate += received_a_second(&received[i], bytes);
    messages += received[i].messages;
  }
  printf("{\"event\":\"bandwidth\",\"rank\":%d,\"round\":%d,\"direction\":\"%s\",\"bytes\":%zu,\"messages\":%lu,",
         options.rank, round, duplex ? "duplex" : "one-way", bytes, messages);
  if (isnan(rate)) {
    printf("\"received_bytes_per_second\":null");
  } else {
    printf("\"received_bytes_per_second\":%.0f", rate); /* 0 if this rank only sent */
  }
  if (timed > 0) {
    qsort(round_trips, timed, sizeof *round_trips, by_value);
    printf(",\"message_us_median\":%.1f,\"message_us_p99\":%.1f", round_trips[timed / 2] * 1e6,
           round_trips[timed * 99 / 100] * 1e6);
  }
  printf("}\n");
}

static void measure_latency(int round, size_t bytes) {
  size_t count = ping_pong(options.seconds, bytes);
  printf("{\"event\":\"latency\",\"rank\":%d,\"round\":%d,\"bytes\":%zu,\"round_trips\":%zu", options.rank, round,
         bytes, count);
  if (options.rank == 0 && count > 0) {
    qsort(round_trips, count, sizeof *round_trips, by_value);
    printf(",\"half_us_least\":%.2f,\"half_us_median\":%.2f,\"half_us_p99\":%.2f,\"half_us_most\":%.2f",
           round_trips[0] * 5e5, round_trips[count / 2] * 5e5, round_trips[count * 99 / 100] * 5e5,
           round_trips[count - 1] * 5e5);
  }
  printf("}\n");
}

/* Sends small, medium and large messages, which let a JIT-compiled plugin compile. */
static void warm_up(void) {
  size_t sizes[] = {64, 64 << 10, 1 << 20};
  struct stream ignored[MOST_FLOWS];
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes && options.warmup_seconds > 0; i++) {
    size_t bytes = sizes[i] < window_bytes ? sizes[i] : window_bytes;
    stream_for(options.warmup_seconds / 6, bytes, 1, 1, ignored);
    barrier();
    ping_pong(options.warmup_seconds / 6, bytes);
    barrier();
  }
}

/* Pins the process to one of its permitted processors, by the rank's number; does nothing if there are too few. */
static void pin_to_own_processor(void) {
  cpu_set_t allowed, own;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  int left = options.rank;
  for (int i = 0; i < CPU_SETSIZE; i++) {
    if (CPU_ISSET(i, &allowed) && left-- == 0) {
      CPU_ZERO(&own);
      CPU_SET(i, &own);
      if (sched_setaffinity(0, sizeof own, &own) != 0)
        fail_with(EXIT_BAD_USAGE, "--pin: cannot pin to processor %d", i);
      return;
    }
  }
}

static void *run(void *unused) {
  (void)unused;
  if (options.pin) pin_to_own_processor();
  warm_up();
  printf("{\"event\":\"warm\",\"rank\":%d}\n", options.rank);
  fflush(stdout);
  for (int round = 1; round <= options.rounds; round++) {
    for (size_t bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= options.factor) {
      for (int kind = 0; kind < 3; kind++) {
        int wanted = kind == 0   ? options.bandwidth
                     : kind == 1 ? options.duplex
                                 : options.latency && bytes <= options.latency_max_bytes;
        if (!wanted) continue;
        wait_for_turn();
        barrier();
        if (kind < 2) {
          measure_stream(round, bytes, kind == 1);
        } else {
          measure_latency(round, bytes);
        }
        fflush(stdout);
        progress();
      }
    }
  }
  return NULL;
}

/* Waits for the other rank: no rank may close while the other rank needs its acknowledgements. */
static void wait_for_other(void) {
  char done = 1;
  progress();
  if (rendezvous_put(options.folder, "done", options.rank, &done, 1) != 0) exit(EXIT_BAD_USAGE);
  if (rendezvous_get(options.folder, "done", 1 - options.rank, &done, 1, options.timeout_seconds) != 0) {
    exit(EXIT_TIMED_OUT);
  }
}

static void *allocate(size_t bytes) {
  void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (memory == NULL) fail_with(EXIT_BAD_USAGE, "no memory for %zu bytes", bytes);
  memset(memory, 0, bytes);
  return memory;
}

int main(int argc, char **argv) {
  parse_options(argc, argv);
  char prefix[64];
  snprintf(prefix, sizeof prefix, "rank %d", options.rank);
  watch_for_hang(options.timeout_seconds);
  window_bytes = options.max_bytes * (size_t)options.outstanding;
  if (window_bytes > WINDOW_BYTES) window_bytes = options.max_bytes > WINDOW_BYTES ? options.max_bytes : WINDOW_BYTES;
  outgoing = allocate(window_bytes);
  for (int i = 0; i < options.flows; i++) flows[i].incoming = allocate(window_bytes);
  round_trips = allocate(MOST_ROUND_TRIPS * sizeof *round_trips);
  for (size_t i = 0; i < window_bytes; i++) outgoing[i] = byte_at(i);

  if (net_load(&net, options.plugin, options.abi, options.log ? prefix : NULL) != 0) return EXIT_PLUGIN_ERROR;
  printf("{\"event\":\"start\",\"rank\":%d,\"pid\":%d,\"net\":\"%s\",\"abi\":%d,\"devices\":%d,\"start_ms\":%.1f,"
         "\"resident_mib\":%.1f,\"outstanding\":%d}\n",
         options.rank, (int)getpid(), net.name, net.version, net.devices, net.start_seconds * 1e3,
         (double)net.start_kib / 1024, options.outstanding);
  fflush(stdout);
  pthread_t service, data;
  if (pthread_create(&service, NULL, serve, NULL) != 0 || pthread_join(service, NULL) != 0 ||
      pthread_create(&data, NULL, run, NULL) != 0 || pthread_join(data, NULL) != 0) {
    fail_with(EXIT_BAD_USAGE, "cannot run a thread");
  }
  wait_for_other();
  for (int i = 0; i < options.flows; i++) close_flow(&flows[i]);
  net_unload(&net);
  printf("{\"event\":\"end\",\"rank\":%d}\n", options.rank);
  return 0;
}
