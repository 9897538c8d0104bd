/*
 * Puts, signals and gets between processes over a plugin's one-sided table. Data are checked as soon as the signal has
 * changed its word in memory.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "command_line.h"
#include "one_sided_sender.h"
#include "report.h"

enum { MOST_CONTEXTS = 256, GET_BYTES = 1 << 16, GETS = 4, CUDA_MEMORY = 2, DMA_BUF_MEMORY = 4 };

struct options {
  const char *plugin, *folder, *table;
  int rank, ranks, contexts, log, spoil, on_devices;
  size_t operations, max_bytes, seed;
  double timeout_seconds;
};

static struct options options = {
    .rank = -1, .ranks = 2, .contexts = 4, .operations = 200, .max_bytes = 1 << 16, .seed = 1, .timeout_seconds = 60};
static struct one_sided plugin;
static struct sender sender;
static void *gets_memory;
static unsigned char *gets; /* two pieces: the first for gets of other ranks, the second receives this rank's gets */

static void usage(FILE *to) {
  fprintf(to,
          "heddle-one-sided: random puts with signals between all ranks, and gets, over a plugin's one-sided table\n"
          "  --plugin FILE           the plugin (libnccl-net-*.so)\n"
          "  --rendezvous FOLDER     shared folder of the ranks; empty before the run\n"
          "  --rank R                this process, from 0 on\n"
          "  --ranks N               number of ranks, 1 to 64 (2)\n"
          "  --contexts C            of each rank; odd ones have weak signals, even ones strong (4)\n"
          "  --operations K          from each rank to each, itself included, in each context (200)\n"
          "  --max-bytes B           largest put; the memory is 8 times that for each rank and context (65536)\n"
          "  --seed S                the same for all ranks (1)\n"
          "  --table SYMBOL          ncclRmaPlugin_v14, ncclRmaPlugin_v13 or ncclGinPlugin_v13 (the newest)\n"
          "  --timeout-seconds S     time without progress after which the process ends with exit code 4 (60)\n"
          "  --on-devices            register all memory as a GPU's, by dma-bufs of host memory\n"
          "  --spoil                 rank 0 sends wrong bytes, to test the check\n"
          "  --verbose               print the plugin's log\n"
          "exit codes: 0 every check passed, 1 a signal came before its data, 2 bad usage, 3 a call failed that must "
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
      {"on-devices", OPTION_ON, &options.on_devices, 0, 0, NULL},
      {"spoil", OPTION_ON, &options.spoil, 0, 0, NULL},
      {"verbose", OPTION_ON, &options.log, 0, 0, NULL},
      {0}};
  read_options(argc, argv, rows, usage);
  if (options.plugin == NULL || options.folder == NULL || options.rank < 0 || options.rank >= options.ranks) {
    bad_usage(usage);
  }
}

static void register_gets(void) {
  gets = one_sided_memory(&plugin, (1 + GETS) * GET_BYTES, 0, &gets_memory);
  fill_piece(gets, GET_BYTES, (uint64_t)options.rank);
}

/*
 * Checks that the plugin refuses kinds of memory that its properties don't name. A plugin that accepted them could
 * write wrong bytes.
 */
static void require_refusals(void) {
  struct nccl_properties_v12 properties;
  void *handle = NULL;
  check(plugin.calls.get_properties(0, &properties), "getProperties");
  if ((properties.pointer_support & CUDA_MEMORY) == 0 &&
      plugin.calls.reg(plugin.group, gets, GET_BYTES, CUDA_MEMORY, 0, &handle) == NCCL_SUCCESS) {
    fail_with(EXIT_PLUGIN_ERROR, "regMrSym takes GPU memory, and getProperties has none");
  }
  if ((properties.pointer_support & DMA_BUF_MEMORY) == 0 &&
      plugin.calls.reg_dma_buf(plugin.group, gets, GET_BYTES, CUDA_MEMORY, 0, 0, 0, &handle) == NCCL_SUCCESS) {
    fail_with(EXIT_PLUGIN_ERROR, "regMrSymDmaBuf takes a dma-buf, and getProperties has none");
  }
}

static int is_done(void *request) { return one_sided_is_done(&plugin, request); }

static void get_from(const struct streams *streams, int peer, int round) {
  uint64_t random = stream_random(streams, streams->rank, peer, MOST_CONTEXTS, (uint64_t)round);
  size_t bytes = random % GET_BYTES;
  size_t offset = (size_t)(random >> 32) % (GET_BYTES - bytes) / 8 * 8;
  size_t into = (size_t)(1 + round % GETS) * GET_BYTES;
  void *request = NULL, *flush = NULL;
  check(plugin.calls.get(plugin.contexts, 0, offset, gets_memory, bytes, into, gets_memory, (uint32_t)peer, &request),
        "iget");
  while (!is_done(request)) one_sided_progress(&plugin);
  check(plugin.calls.flush(plugin.contexts, 0, gets_memory, (uint32_t)peer, &flush), "iflush");
  if ((flush != NULL) != plugin.on_devices) fail_with(EXIT_PLUGIN_ERROR, "iflush: %p", flush);
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
  plugin.on_devices = options.on_devices != 0;
  progress();
  struct streams streams = {.rank = options.rank,
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
  sender_register(&sender, &plugin, &streams);
  register_gets();
  require_refusals();
  pthread_t checker;
  if (pthread_create(&checker, NULL, check_streams, &streams) != 0)
    fail_with(EXIT_PLUGIN_ERROR, "no thread to check with");
  double start_seconds = now_seconds();
  size_t left = stream_count(&streams);
  for (int round = 0; left > 0; round++) {
    left = 0;
    for (int peer = 0; peer < options.ranks; peer++) {
      for (int context = 0; context < options.contexts; context++) left += !sender_drive(&sender, peer, context, false);
    }
    check(sender.result, sender.failed);
    one_sided_progress(&plugin);
    if (round % 64 == 0) get_from(&streams, (options.rank + 1) % options.ranks, round / 64);
  }
  pthread_join(checker, NULL);
  double seconds = now_seconds() - start_seconds;
  one_sided_barrier(&plugin, &meeting, "through");
  bool failed = true;
  if (plugin.calls.last_error != NULL) check(plugin.calls.last_error(plugin.contexts, &failed), "queryLastError");
  if (failed) fail_with(EXIT_PLUGIN_ERROR, "all is done, and the plugin has an error");
  sender_deregister(&sender);
  check(plugin.calls.dereg(plugin.group, gets_memory), "deregMrSym");
  one_sided_barrier(&plugin, &meeting, "deregistered");
  check(plugin.calls.destroy_contexts(plugin.contexts), "destroyContext");
  check(plugin.calls.close(plugin.group), "closeColl");
  check(plugin.calls.finalize(plugin.context), "finalize");
  check_sums(&streams);
  printf("rank %d: %zu operations in %d contexts with %d ranks through %s, %.3f s\n", options.rank,
         stream_count(&streams) * options.operations, options.contexts, options.ranks, plugin.symbol, seconds);
  return 0;
}
