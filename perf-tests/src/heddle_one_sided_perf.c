/*
 * Performance of puts with signals over a plugin's one-sided table, or of messages over its net interface: latency,
 * bandwidth, and all-to-all as in expert parallelism.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "report.h"
#include "transfer.h"

static struct {
  struct transfer_options transfer;
  const char *over, *test;
  int iterations, rounds, turns, log;
} options = {.transfer = {.rank = -1, .ranks = 2, .depth = 8, .bytes = 8, .timeout_seconds = 60},
             .over = "puts",
             .iterations = 2000,
             .rounds = 1};

/* Messages in flight to a rank. */
struct outbox {
  void *requests[TRANSFER_MOST_DEPTH];
  uint64_t sent, finished;
};

static const struct transfer *transfer;
static struct outbox outboxes[TRANSFER_MOST_RANKS];
static uint64_t awaited[TRANSFER_MOST_RANKS];
static double *samples;

static void usage(FILE *to) {
  fprintf(to,
          "heddle-one-sided-perf: performance of puts with signals between ranks; rank 0 prints JSON\n"
          "  --test NAME             latency: two ranks answer each other; median half round trip, microseconds\n"
          "                          bandwidth: rank 0 sends to rank 1, --depth at a time; megabytes a second\n"
          "                          all-to-all: each rank sends to each other, iteration by iteration; messages a\n"
          "                          second of all ranks\n"
          "  --over KIND             puts (iputSignal), or messages (isend and irecv of the net interface) (puts)\n"
          "  --plugin FILE           the plugin (libnccl-net-*.so)\n"
          "  --rendezvous FOLDER     shared folder of the ranks; empty before the run\n"
          "  --rank R                this process, from 0 on\n"
          "  --ranks N               number of ranks, 2 to 64; 2 except for all-to-all (2)\n"
          "  --bytes B               of each (8)\n"
          "  --iterations K          of a round (2000)\n"
          "  --rounds N              measurements, each printed (1)\n"
          "  --turns                 wait for a line on standard input before each round\n"
          "  --depth D               messages in flight to a rank, 1 to 64 (8)\n"
          "  --table SYMBOL          ncclRmaPlugin_v14, ncclRmaPlugin_v13 or ncclGinPlugin_v13 (the newest)\n"
          "  --timeout-seconds S     time without progress after which the process ends with exit code 4 (60)\n"
          "  --verbose               print the plugin's log\n"
          "exit codes: 0 measured, 2 bad usage, 3 a call failed that must not, 4 timed out\n");
}

static void parse(int argc, char **argv) {
  static const struct option_row rows[] = {
      {"test", OPTION_TEXT, &options.test, 0, 0, NULL},
      {"over", OPTION_TEXT, &options.over, 0, 0, NULL},
      {"plugin", OPTION_TEXT, &options.transfer.plugin, 0, 0, NULL},
      {"rendezvous", OPTION_TEXT, &options.transfer.folder, 0, 0, NULL},
      {"rank", OPTION_INT, &options.transfer.rank, 0, TRANSFER_MOST_RANKS - 1, NULL},
      {"ranks", OPTION_INT, &options.transfer.ranks, 2, TRANSFER_MOST_RANKS, NULL},
      {"bytes", OPTION_SIZE, &options.transfer.bytes, 1, 1 << 30, NULL},
      {"iterations", OPTION_INT, &options.iterations, 1, 1 << 30, NULL},
      {"rounds", OPTION_INT, &options.rounds, 1, 1 << 30, NULL},
      {"turns", OPTION_ON, &options.turns, 0, 0, NULL},
      {"depth", OPTION_INT, &options.transfer.depth, 1, TRANSFER_MOST_DEPTH, NULL},
      {"table", OPTION_TEXT, &options.transfer.table, 0, 0, NULL},
      {"timeout-seconds", OPTION_SECONDS, &options.transfer.timeout_seconds, 1, 86400, NULL},
      {"verbose", OPTION_ON, &options.log, 0, 0, NULL},
      {0}};
  read_options(argc, argv, rows, usage);
  if (options.transfer.plugin == NULL || options.transfer.folder == NULL || options.test == NULL ||
      options.transfer.rank < 0 || options.transfer.rank >= options.transfer.ranks) {
    bad_usage(usage);
  }
  transfer = strcmp(options.over, "puts") == 0       ? &transfer_by_puts
             : strcmp(options.over, "messages") == 0 ? &transfer_by_messages
                                                     : NULL;
  if (transfer == NULL) {
    fprintf(stderr, "--over %s: neither puts nor messages\n", options.over);
    bad_usage(usage);
  }
}

static void test_sends(struct outbox *box) {
  while (box->finished < box->sent && transfer->is_sent(box->requests[box->finished % TRANSFER_MOST_DEPTH]))
    box->finished++;
}

static void send(int to, bool ordered) {
  struct outbox *box = &outboxes[to];
  void *request = NULL;
  while (request == NULL) {
    test_sends(box);
    if (box->sent < box->finished + (uint64_t)options.transfer.depth) request = transfer->send(to, box->sent, ordered);
    if (request == NULL) sched_yield(); /* yields as NCCL's progress thread does */
  }
  box->requests[box->sent++ % TRANSFER_MOST_DEPTH] = request;
}

static void finish(int to) {
  for (struct outbox *box = &outboxes[to]; test_sends(box), box->finished < box->sent;) sched_yield();
}

static void set_expected(int from, int more) { transfer->set_expected(from, awaited[from] + (uint64_t)more); }

static void await(int from) {
  awaited[from]++;
  while (transfer->arrived(from) < awaited[from]) {
    for (int rank = 0; rank < options.transfer.ranks; rank++) test_sends(&outboxes[rank]);
    sched_yield();
  }
  progress();
}

static void ping_pong(int iterations) {
  int other = 1 - options.transfer.rank;
  set_expected(other, iterations);
  for (int i = 0; i < iterations; i++) {
    double start = now_seconds();
    if (options.transfer.rank == 0) send(other, true);
    await(other);
    if (options.transfer.rank == 1) send(other, true);
    samples[i] = now_seconds() - start;
  }
  finish(other);
}

/* Runs a stream of messages. The receiver answers when all have arrived. */
static void stream(int iterations) {
  if (options.transfer.rank == 0) {
    set_expected(1, 1);
    for (int i = 0; i < iterations; i++) send(1, false);
    await(1);
    finish(1);
  } else {
    set_expected(0, iterations);
    for (int i = 0; i < iterations; i++) await(0);
    send(0, true);
    finish(0);
  }
}

static void all_to_all(int iterations) {
  int ranks = options.transfer.ranks, rank = options.transfer.rank;
  for (int step = 1; step < ranks; step++) set_expected((rank + step) % ranks, iterations);
  for (int i = 0; i < iterations; i++) {
    for (int step = 1; step < ranks; step++) send((rank + step) % ranks, true);
    for (int step = 1; step < ranks; step++) await((rank + step) % ranks);
  }
  for (int step = 1; step < ranks; step++) finish((rank + step) % ranks);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Returns the round's result in the unit that the usage text states. */
static double value(double seconds) {
  double each = seconds / options.iterations;
  if (strcmp(options.test, "bandwidth") == 0) return (double)options.transfer.bytes / each * 1e-6;
  if (strcmp(options.test, "all-to-all") == 0)
    return (double)options.transfer.ranks * (options.transfer.ranks - 1) / each;
  qsort(samples, (size_t)options.iterations, sizeof *samples, by_value);
  return samples[options.iterations / 2] / 2 * 1e6;
}

static void print_event(const char *event) {
  if (options.transfer.rank == 0) printf("{\"event\":\"%s\",\"over\":\"%s\"}\n", event, transfer->name);
  fflush(stdout);
}

static void wait_for_turn(void) {
  if (!options.turns) return;
  char line[16];
  pause_watch(1);
  if (fgets(line, sizeof line, stdin) == NULL)
    fail_with(EXIT_BAD_USAGE, "--turns: standard input ended before the run");
  pause_watch(0);
}

int main(int argc, char **argv) {
  parse(argc, argv);
  bool pair = strcmp(options.test, "all-to-all") != 0;
  void (*run)(int) = strcmp(options.test, "latency") == 0     ? ping_pong
                     : strcmp(options.test, "bandwidth") == 0 ? stream
                     : !pair                                  ? all_to_all
                                                              : NULL;
  if (run == NULL || (pair && options.transfer.ranks != 2)) {
    fprintf(stderr, "there is no test %s of %d ranks\n", options.test, options.transfer.ranks);
    bad_usage(usage);
  }
  char prefix[32];
  snprintf(prefix, sizeof prefix, "rank %d: ", options.transfer.rank);
  if (options.log) options.transfer.log_prefix = prefix;
  watch_for_hang(options.transfer.timeout_seconds);
  samples = calloc((size_t)options.iterations, sizeof *samples);
  if (samples == NULL) fail_with(EXIT_BAD_USAGE, "no memory for %d samples", options.iterations);
  transfer->open(&options.transfer);
  all_to_all(1);
  print_event("warm");
  for (int round = 0; round < options.rounds; round++) {
    wait_for_turn();
    all_to_all(1); /* starts all ranks together */
    double start = now_seconds();
    run(options.iterations);
    double seconds = now_seconds() - start;
    if (options.transfer.rank != 0) continue;
    printf("{\"event\":\"measured\",\"over\":\"%s\",\"test\":\"%s\",\"bytes\":%zu,\"ranks\":%d,\"seconds\":%.6f,"
           "\"value\":%.3f}\n",
           transfer->name, options.test, options.transfer.bytes, options.transfer.ranks, seconds, value(seconds));
    fflush(stdout);
  }
  transfer->close();
  print_event("end");
  return 0;
}
