/* How quick puts with signals are over a plugin's one-sided table: latency, bandwidth, and all to all as experts do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "command_line.h"
#include "one_sided_plugin.h"
#include "report.h"

enum { MOST_DEPTH = 256 };

static struct {
  const char *plugin, *folder, *table, *test;
  int rank, ranks, iterations, depth, json, log;
  size_t bytes;
  double timeout_seconds;
} options = {.rank = -1, .ranks = 2, .iterations = 2000, .depth = 8, .bytes = 8, .timeout_seconds = 60};

static struct one_sided plugin;
static struct one_sided_meeting meeting;
static unsigned char *from, *into; /* a piece for each rank */
static uint64_t *words;            /* one for each rank, which it signals */
static void *from_memory, *into_memory, *words_memory;

static void usage(FILE *to) {
  fprintf(to,
          "heddle-one-sided-perf: how quick puts with signals are, by processes with ranks; rank 0 prints\n"
          "  --test NAME             latency: ranks 0 and 1 answer each other's put with signal; half a round trip\n"
          "                          bandwidth: rank 0 puts, --depth at a time, each with a weak signal\n"
          "                          all-to-all: each rank puts to each other, round by round; messages a second\n"
          "  --plugin FILE           the plugin (libnccl-net-*.so)\n"
          "  --rendezvous FOLDER     where the ranks find each other; empty before the run\n"
          "  --rank R                this process, from 0 on\n"
          "  --ranks N               how many there are, 2 to 64 (2)\n"
          "  --bytes B               of each put (8)\n"
          "  --iterations K          measured, after a tenth as many that aren't (2000)\n"
          "  --depth D               puts under way of bandwidth, 1 to 256 (8)\n"
          "  --table SYMBOL          ncclRmaPlugin_v14, ncclRmaPlugin_v13 or ncclGinPlugin_v13 (the newest)\n"
          "  --timeout-seconds S     without progress for so long, the process ends with exit code 4 (60)\n"
          "  --json                  one line of JSON\n"
          "  --verbose               with the plugin's own log\n"
          "exit codes: 0 measured, 2 bad usage, 3 a call failed that must not, 4 timed out\n");
}

static void parse(int argc, char **argv) {
  static const struct option_row rows[] = {
      {"test", OPTION_TEXT, &options.test, 0, 0, NULL},
      {"plugin", OPTION_TEXT, &options.plugin, 0, 0, NULL},
      {"rendezvous", OPTION_TEXT, &options.folder, 0, 0, NULL},
      {"rank", OPTION_INT, &options.rank, 0, ONE_SIDED_MOST_RANKS - 1, NULL},
      {"ranks", OPTION_INT, &options.ranks, 2, ONE_SIDED_MOST_RANKS, NULL},
      {"bytes", OPTION_SIZE, &options.bytes, 0, 1 << 30, NULL},
      {"iterations", OPTION_INT, &options.iterations, 1, 1 << 30, NULL},
      {"depth", OPTION_INT, &options.depth, 1, MOST_DEPTH, NULL},
      {"table", OPTION_TEXT, &options.table, 0, 0, NULL},
      {"timeout-seconds", OPTION_SECONDS, &options.timeout_seconds, 1, 86400, NULL},
      {"json", OPTION_ON, &options.json, 0, 0, NULL},
      {"verbose", OPTION_ON, &options.log, 0, 0, NULL},
      {0}};
  read_options(argc, argv, rows, usage);
  if (options.plugin == NULL || options.folder == NULL || options.test == NULL || options.rank < 0 ||
      options.rank >= options.ranks) {
    bad_usage(usage);
  }
}

static void *memory(size_t bytes, void **handle) {
  void *found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) fail_with(EXIT_BAD_USAGE, "no memory: %zu bytes; ask for less with --bytes", bytes);
  memset(found, 1, bytes);
  check(plugin.calls.reg(plugin.group, found, bytes, 1, 0, handle), "regMrSym");
  return found;
}

/* Puts this rank's piece, and adds one to its word there. */
static void *put(int to, bool strong) {
  void *request = NULL;
  size_t piece = options.bytes * (size_t)options.rank;
  check(plugin.calls.put_signal(plugin.contexts, 0, options.bytes * (size_t)to, from_memory, options.bytes, piece,
                                into_memory, (uint32_t)to, (size_t)options.rank * sizeof *words, words_memory, 1,
                                NCCL_SIGNAL_ADD, strong, &request),
        "iputSignal");
  return request;
}

static void finish(void *request) {
  while (!one_sided_is_done(&plugin, request)) one_sided_progress(&plugin);
}

static void await_word(int of, uint64_t value) {
  while (__atomic_load_n(words + of, __ATOMIC_ACQUIRE) < value) one_sided_progress(&plugin);
  progress();
}

/* One put each way. */
static void answer_each_other(uint64_t count) {
  int other = 1 - options.rank;
  if (options.rank == 0) finish(put(other, true));
  await_word(other, count);
  if (options.rank == 1) finish(put(other, true));
}

/* All ranks put to all others, and have all theirs. */
static void exchange(uint64_t count) {
  void *requests[ONE_SIDED_MOST_RANKS];
  for (int step = 1; step < options.ranks; step++) requests[step] = put((options.rank + step) % options.ranks, true);
  for (int step = 1; step < options.ranks; step++) {
    finish(requests[step]);
    await_word((options.rank + step) % options.ranks, count);
  }
}

static void stream(int iterations, uint64_t base) {
  if (options.rank != 0) {
    await_word(0, base + (uint64_t)iterations);
    finish(put(0, true));
    return;
  }
  void *requests[MOST_DEPTH];
  for (int i = 0; i < iterations; i++) {
    if (i >= options.depth) finish(requests[i % options.depth]);
    requests[i % options.depth] = put(1, false);
  }
  for (int i = iterations > options.depth ? iterations - options.depth : 0; i < iterations; i++) {
    finish(requests[i % options.depth]);
  }
}

static void report(double seconds) {
  double each = seconds / options.iterations;
  char text[128];
  if (strcmp(options.test, "latency") == 0) {
    snprintf(text, sizeof text, options.json ? "\"half_round_trip_us\":%.3f" : "half a round trip %.2f us",
             each / 2 * 1e6);
  } else if (strcmp(options.test, "bandwidth") == 0) {
    snprintf(text, sizeof text, options.json ? "\"megabytes_per_second\":%.1f" : "%.1f MB/s",
             (double)options.bytes / each / 1e6);
  } else {
    snprintf(text, sizeof text, options.json ? "\"messages_per_second\":%.0f" : "%.0f messages/s",
             (double)options.ranks * (options.ranks - 1) / each);
  }
  printf(options.json ? "{\"test\":\"%s\",\"bytes\":%zu,\"ranks\":%d,%s}\n" : "%s of %zu B, %d ranks: %s\n",
         options.test, options.bytes, options.ranks, text);
}

static void run(int iterations, uint64_t base) {
  if (strcmp(options.test, "bandwidth") == 0) {
    if (options.rank < 2) stream(iterations, base);
    return;
  }
  for (int i = 0; i < iterations; i++) {
    if (strcmp(options.test, "all-to-all") == 0) {
      exchange(base + (uint64_t)i + 1);
    } else if (options.rank < 2) {
      answer_each_other(base + (uint64_t)i + 1);
    }
  }
}

int main(int argc, char **argv) {
  parse(argc, argv);
  if (strcmp(options.test, "latency") != 0 && strcmp(options.test, "bandwidth") != 0 &&
      strcmp(options.test, "all-to-all") != 0) {
    fprintf(stderr, "there is no test %s\n", options.test);
    bad_usage(usage);
  }
  char prefix[32];
  snprintf(prefix, sizeof prefix, "rank %d: ", options.rank);
  watch_for_hang(options.timeout_seconds);
  if (one_sided_load(&plugin, options.plugin, options.table, options.log ? prefix : NULL) != 0)
    return EXIT_PLUGIN_ERROR;
  progress();
  meeting = (struct one_sided_meeting){.folder = options.folder,
                                       .rank = options.rank,
                                       .ranks = options.ranks,
                                       .timeout_seconds = options.timeout_seconds};
  one_sided_connect(&plugin, &meeting, 1);
  size_t bytes = (options.bytes + 1) * (size_t)options.ranks;
  from = memory(bytes, &from_memory);
  into = memory(bytes, &into_memory);
  words = memory(sizeof *words * (size_t)options.ranks, &words_memory);
  memset(words, 0, sizeof *words * (size_t)options.ranks);
  one_sided_barrier(&plugin, &meeting, "registered");
  int warm = options.iterations / 10 + 1;
  run(warm, 0);
  one_sided_barrier(&plugin, &meeting, "warm");
  double start = now_seconds();
  run(options.iterations, (uint64_t)warm);
  /* The answer to the last of a stream says that all have come. */
  if (strcmp(options.test, "bandwidth") == 0 && options.rank == 0) await_word(1, 2);
  double seconds = now_seconds() - start;
  one_sided_barrier(&plugin, &meeting, "through");
  if (options.rank == 0) report(seconds);
  check(plugin.calls.dereg(plugin.group, from_memory), "deregMrSym");
  check(plugin.calls.dereg(plugin.group, into_memory), "deregMrSym");
  check(plugin.calls.dereg(plugin.group, words_memory), "deregMrSym");
  one_sided_barrier(&plugin, &meeting, "deregistered");
  check(plugin.calls.destroy_contexts(plugin.contexts), "destroyContext");
  check(plugin.calls.close(plugin.group), "closeColl");
  check(plugin.calls.finalize(plugin.context), "finalize");
  return 0;
}
