/* Puts, signals and gets between processes over a plugin's one-sided table, each looked at when its word says so. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "command_line.h"
#include "one_sided_lanes.h"
#include "one_sided_plugin.h"
#include "report.h"

enum { MOST_CONTEXTS = 256, GET_BYTES = 1 << 16, GETS = 4 };

struct options {
  const char *plugin, *folder, *table;
  int rank, ranks, contexts, log, spoil;
  size_t operations, max_bytes, seed;
  double timeout_seconds;
};

static struct options options = {
    .rank = -1, .ranks = 2, .contexts = 4, .operations = 200, .max_bytes = 1 << 16, .seed = 1, .timeout_seconds = 60};
static struct one_sided plugin;
static void *words_memory, *incoming_memory, *outgoing_memory, *gets_memory;
static unsigned char *gets; /* a piece that others read, then one that is read into */

/* A lane from this rank. */
struct sending {
  uint64_t next, tested;
  uint64_t signalled; /* by strong signals that were started */
  void *requests[PLACES];
  uint64_t acknowledged; /* of the lane to this rank: how many checked operations its source was told of */
};

static struct sending *sendings;

static void usage(FILE *to) {
  fprintf(to,
          "heddle-one-sided: random puts with signals between all ranks, and gets, over a plugin's one-sided table\n"
          "  --plugin FILE           the plugin (libnccl-net-*.so)\n"
          "  --rendezvous FOLDER     where the ranks find each other; empty before the run\n"
          "  --rank R                this process, from 0 on\n"
          "  --ranks N               how many there are, 1 to 64 (2)\n"
          "  --contexts C            of each rank; odd ones have weak signals, even ones strong (4)\n"
          "  --operations K          from each rank to each, itself included, in each context (200)\n"
          "  --max-bytes B           largest put; the memory is 8 times that for each rank and context (65536)\n"
          "  --seed S                the same for all ranks (1)\n"
          "  --table SYMBOL          ncclRmaPlugin_v14, ncclRmaPlugin_v13 or ncclGinPlugin_v13 (the newest)\n"
          "  --timeout-seconds S     without progress for so long, the process ends with exit code 4 (60)\n"
          "  --spoil                 rank 0 sends a wrong byte, to see that it is found\n"
          "  --verbose               with the plugin's own log\n"
          "exit codes: 0 all as it must be, 1 a signal came before its data, 2 bad usage, 3 a call failed that must "
          "not, 4 timed out\n");
}

static void parse(int argc, char **argv) {
  static const struct option_row rows[] = {
      {"plugin", OPTION_TEXT, &options.plugin, 0, 0, NULL},
      {"rendezvous", OPTION_TEXT, &options.folder, 0, 0, NULL},
      {"rank", OPTION_INT, &options.rank, 0, ONE_SIDED_MOST_RANKS - 1, NULL},
      {"ranks", OPTION_INT, &options.ranks, 1, ONE_SIDED_MOST_RANKS, NULL},
      {"contexts", OPTION_INT, &options.contexts, 1, MOST_CONTEXTS, NULL},
      {"operations", OPTION_SIZE, &options.operations, 1, 1 << 30, NULL},
      {"max-bytes", OPTION_SIZE, &options.max_bytes, 64, 64 << 20, NULL},
      {"seed", OPTION_SIZE, &options.seed, 0, INT64_MAX, NULL},
      {"table", OPTION_TEXT, &options.table, 0, 0, NULL},
      {"timeout-seconds", OPTION_SECONDS, &options.timeout_seconds, 1, 86400, NULL},
      {"spoil", OPTION_ON, &options.spoil, 0, 0, NULL},
      {"verbose", OPTION_ON, &options.log, 0, 0, NULL},
      {0}};
  read_options(argc, argv, rows, usage);
  if (options.plugin == NULL || options.folder == NULL || options.rank < 0 || options.rank >= options.ranks) {
    bad_usage(usage);
  }
}

static void *memory(size_t bytes) {
  void *found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) fail_with(EXIT_BAD_USAGE, "no memory: %zu bytes; ask for less with --max-bytes", bytes);
  return found;
}

static void register_all(struct lanes *lanes) {
  size_t words = lane_count(lanes) * WORDS_OF_LANE * sizeof(uint64_t);
  size_t bytes = lane_count(lanes) * PLACES * lanes->max_bytes;
  lanes->words = memory(words);
  lanes->incoming = memory(bytes);
  lanes->outgoing = memory(bytes);
  lanes->checked = memory(lane_count(lanes) * sizeof *lanes->checked);
  gets = memory((1 + GETS) * GET_BYTES);
  fill_piece(gets, GET_BYTES, (uint64_t)options.rank);
  check(plugin.calls.reg(plugin.group, lanes->words, words, 1, 1, &words_memory), "regMrSym");
  check(plugin.calls.reg(plugin.group, lanes->incoming, bytes, 1, 0, &incoming_memory), "regMrSym");
  check(plugin.calls.reg(plugin.group, lanes->outgoing, bytes, 1, 0, &outgoing_memory), "regMrSym");
  check(plugin.calls.reg(plugin.group, gets, (1 + GETS) * GET_BYTES, 1, 0, &gets_memory), "regMrSym");
}

static int is_done(void *request) { return one_sided_is_done(&plugin, request); }

/* Starts the lane's next operation, where the target has checked what lay in its place. */
static void start(struct lanes *lanes, struct sending *lane, int to, int context) {
  size_t back = lane_of(lanes, to, context);
  uint64_t checked = __atomic_load_n(lanes->words + back * WORDS_OF_LANE + WORD_CHECKED, __ATOMIC_ACQUIRE);
  uint64_t number = lane->next;
  if (number == lanes->operations || number >= checked + PLACES || number >= lane->tested + PLACES) return;
  uint64_t random = lane_random(lanes, lanes->rank, to, context, number);
  size_t bytes = operation_bytes(lanes, random);
  size_t from = place_offset(lanes, back, number);
  size_t into = place_offset(lanes, lane_of(lanes, lanes->rank, context), number);
  fill_piece(lanes->outgoing + from, bytes, random);
  if (lanes->spoil && number == 3 && bytes > 0) lanes->outgoing[from] ^= 1;
  void **request = &lane->requests[number % PLACES];
  size_t there = lane_of(lanes, lanes->rank, context);
  if (is_weak(context)) {
    check(plugin.calls.put_signal(plugin.contexts, context, from, outgoing_memory, bytes, into, incoming_memory,
                                  (uint32_t)to, word_offset(there, WORD_WEAK + (int)(number % PLACES)), words_memory, 0,
                                  NCCL_SIGNAL_INCREMENT, false, request),
          "iputSignal");
  } else if (has_strong_signal(lanes, lanes->rank, to, context, number)) {
    check(plugin.calls.put_signal(plugin.contexts, context, from, outgoing_memory, bytes, into, incoming_memory,
                                  (uint32_t)to, word_offset(there, WORD_STRONG), words_memory,
                                  number + 1 - lane->signalled, NCCL_SIGNAL_ADD, true, request),
          "iputSignal");
    lane->signalled = number + 1;
  } else {
    check(plugin.calls.put(plugin.contexts, context, from, outgoing_memory, bytes, into, incoming_memory, (uint32_t)to,
                           request),
          "iput");
  }
  if (*request == NULL) fail_with(EXIT_PLUGIN_ERROR, "a put gave no request");
  lane->next++;
}

/* Returns whether the lane is through, here and at the target. */
static int drive(struct lanes *lanes, int peer, int context) {
  size_t number = lane_of(lanes, peer, context);
  struct sending *lane = &sendings[number];
  start(lanes, lane, peer, context);
  while (lane->tested < lane->next && is_done(lane->requests[lane->tested % PLACES])) lane->tested++;
  /* Tells the source of the lane from this peer what the checker has seen; a signal alone, weak. */
  uint64_t checked = atomic_load_explicit(&lanes->checked[number], memory_order_acquire);
  if (checked > lane->acknowledged) {
    void *request = NULL;
    check(plugin.calls.put_signal(plugin.contexts, context, 0, NULL, 0, 0, NULL, (uint32_t)peer,
                                  word_offset(lane_of(lanes, lanes->rank, context), WORD_CHECKED), words_memory,
                                  checked - lane->acknowledged, NCCL_SIGNAL_ADD, false, &request),
          "iputSignal");
    lane->acknowledged = checked;
    while (!is_done(request)) one_sided_progress(&plugin);
  }
  return lane->tested == lanes->operations && lane->acknowledged == lanes->operations;
}

static void get_from(const struct lanes *lanes, int peer, int round) {
  uint64_t random = lane_random(lanes, lanes->rank, peer, MOST_CONTEXTS, (uint64_t)round);
  size_t bytes = random % GET_BYTES;
  size_t offset = (size_t)(random >> 32) % (GET_BYTES - bytes) / 8 * 8;
  size_t into = (size_t)(1 + round % GETS) * GET_BYTES;
  void *request = NULL, *flush = NULL;
  check(plugin.calls.get(plugin.contexts, 0, offset, gets_memory, bytes, into, gets_memory, (uint32_t)peer, &request),
        "iget");
  while (!is_done(request)) one_sided_progress(&plugin);
  check(plugin.calls.flush(plugin.contexts, 0, gets_memory, (uint32_t)peer, &flush), "iflush");
  while (flush != NULL && !is_done(flush)) one_sided_progress(&plugin);
  size_t wrong = wrong_byte(gets + into, bytes, (uint64_t)peer + offset);
  if (wrong != bytes) {
    fail_with(EXIT_WRONG_DATA, "a get of %zu bytes from rank %d is done, and byte %zu is wrong", bytes, peer, wrong);
  }
}

int main(int argc, char **argv) {
  parse(argc, argv);
  char prefix[32];
  snprintf(prefix, sizeof prefix, "rank %d: ", options.rank);
  watch_for_hang(options.timeout_seconds);
  if (one_sided_load(&plugin, options.plugin, options.table, options.log ? prefix : NULL) != 0)
    return EXIT_PLUGIN_ERROR;
  progress();
  struct lanes lanes = {.rank = options.rank,
                        .ranks = options.ranks,
                        .contexts = options.contexts,
                        .seed = options.seed,
                        .operations = options.operations,
                        .max_bytes = options.max_bytes,
                        .spoil = options.spoil && options.rank == 0};
  struct one_sided_meeting meeting = {.folder = options.folder,
                                      .rank = options.rank,
                                      .ranks = options.ranks,
                                      .timeout_seconds = options.timeout_seconds};
  one_sided_connect(&plugin, &meeting, options.contexts);
  register_all(&lanes);
  sendings = calloc(lane_count(&lanes), sizeof *sendings);
  if (sendings == NULL) fail_with(EXIT_BAD_USAGE, "no memory for %zu lanes", lane_count(&lanes));
  pthread_t checker;
  if (pthread_create(&checker, NULL, check_lanes, &lanes) != 0) fail_with(EXIT_PLUGIN_ERROR, "no thread to check with");
  double start_seconds = now_seconds();
  size_t left = lane_count(&lanes);
  for (int round = 0; left > 0; round++) {
    left = 0;
    for (int peer = 0; peer < options.ranks; peer++) {
      for (int context = 0; context < options.contexts; context++) left += !drive(&lanes, peer, context);
    }
    one_sided_progress(&plugin);
    if (round % 64 == 0) get_from(&lanes, (options.rank + 1) % options.ranks, round / 64);
  }
  pthread_join(checker, NULL);
  double seconds = now_seconds() - start_seconds;
  one_sided_barrier(&plugin, &meeting, "through");
  bool failed = true;
  if (plugin.calls.last_error != NULL) check(plugin.calls.last_error(plugin.contexts, &failed), "queryLastError");
  if (failed) fail_with(EXIT_PLUGIN_ERROR, "all is done, and the plugin has an error");
  void *all[] = {words_memory, incoming_memory, outgoing_memory, gets_memory};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) check(plugin.calls.dereg(plugin.group, all[i]), "deregMrSym");
  one_sided_barrier(&plugin, &meeting, "deregistered");
  check(plugin.calls.destroy_contexts(plugin.contexts), "destroyContext");
  check(plugin.calls.close(plugin.group), "closeColl");
  check(plugin.calls.finalize(plugin.context), "finalize");
  printf("rank %d: %zu operations in %d contexts with %d ranks through %s, %.3f s\n", options.rank,
         lane_count(&lanes) * options.operations, options.contexts, options.ranks, plugin.symbol, seconds);
  return 0;
}
