/*
 * One of two ranks that exchange puts, signals and gets while another process disturbs the network. It is heddle-chaos
 * over the one-sided table, with the same orders and answers. A thread polls the signal words, which the signals add
 * to, and then checks the data, as a GPU would. At the end of a run, and again after the close, each signal word must
 * be the sum of all signals, each added once.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chaos_orders.h"
#include "command_line.h"
#include "net_plugin.h"
#include "one_sided_sender.h"
#include "report.h"

enum {
  RANKS = 2,
  MOST_CONTEXTS = 8,
  GET_BYTES = 1 << 16,
  EAGER_PASSES = 2000 /* number of passes without progress after which the thread sleeps between passes */
};

static struct {
  const char *plugin, *table;
  int rank, spoils;
  double timeout_seconds;
} options = {.rank = -1, .timeout_seconds = 20};

static struct one_sided plugin;
static struct streams streams;
static struct sender sender;
/* two pieces: the first for the other rank's gets, the second receives this rank's gets */
static unsigned char gets[2 * GET_BYTES];
static void *gets_memory, *get_request;
static uint64_t get_number, gotten;
static double failed_at;

static void usage(FILE *to) {
  fprintf(
      to,
      "heddle-one-sided-chaos: one of two ranks that put to each other, every byte and every signal checked, for "
      "unreliable networks\n"
      "  --plugin FILE           the plugin (libnccl-net-*.so)\n"
      "  --rank R                0 or 1\n"
      "  --table SYMBOL          ncclRmaPlugin_v14, ncclRmaPlugin_v13 or ncclGinPlugin_v13 (the newest)\n"
      "  --timeout-seconds S     time without progress after which the process ends with exit code 4 (20)\n"
      "  --spoil                 rank 0 sends wrong bytes, to test the check\n"
      "lines of standard input:\n"
      "  run SEED MILLISECONDS MAX_BYTES FOLDER   the same for both ranks, FOLDER empty\n"
      "  close                   end the run, once its operations are finished or the group has failed\n"
      "  clock SECONDS           step this process's wall clock to this offset from the host's\n"
      "exit codes: 0 every byte and signal right, 1 wrong ones, 2 bad usage, 3 a call failed that must not, 4 timed "
      "out\n");
}

static void parse(int argc, char **argv) {
  static const struct option_row rows[] = {
      {"plugin", OPTION_TEXT, &options.plugin, 0, 0, NULL},
      {"rank", OPTION_INT, &options.rank, 0, 1, NULL},
      {"table", OPTION_TEXT, &options.table, 0, 0, NULL},
      {"timeout-seconds", OPTION_SECONDS, &options.timeout_seconds, 1, 86400, NULL},
      {"spoil", OPTION_ON, &options.spoils, 0, 0, NULL},
      {0}};
  read_options(argc, argv, rows, usage);
  if (options.plugin == NULL || options.rank < 0) bad_usage(usage);
}

/* Checks a call that may fail because the peer or all planes are gone. Returns whether it succeeded. */
static bool succeeded(int result, const char *call) { return sender_check(&sender, result, call); }

/*
 * Advances the gets from the other rank's piece: one at a time, and checks each get when it is done and flushed.
 * Returns true if `ends` is set and no get is in flight.
 */
static bool drive_get(uint64_t seed, bool ends) {
  const struct nccl_rma_v14 *calls = &plugin.calls;
  uint64_t random = stream_random(&streams, options.rank, 1 - options.rank, MOST_CONTEXTS, get_number ^ seed);
  size_t bytes = random % GET_BYTES, offset = (size_t)(random >> 32) % (GET_BYTES - bytes) / 8 * 8;
  uint32_t other = (uint32_t)(1 - options.rank);
  if (get_request == NULL) {
    if (ends) return true;
    memset(gets + GET_BYTES, 0, bytes);
    succeeded(calls->get(plugin.contexts, 0, offset, gets_memory, bytes, GET_BYTES, gets_memory, other, &get_request),
              "iget");
    return false;
  }
  int done = 0;
  if (!succeeded(calls->test(plugin.group, get_request, &done), "test") || !done) return false;
  void *flush = NULL;
  if (!succeeded(calls->flush(plugin.contexts, 0, gets_memory, other, &flush), "iflush")) return false;
  if (flush != NULL) fail_with(EXIT_PLUGIN_ERROR, "a flush of host memory has something to wait for");
  size_t wrong = wrong_byte(gets + GET_BYTES, bytes, other + offset);
  if (wrong != bytes) {
    fail_with(EXIT_WRONG_DATA, "WRONG: get %lu of %zu bytes is done, and byte %zu isn't the other's",
              (unsigned long)get_number, bytes, wrong);
  }
  get_request = NULL;
  get_number++;
  gotten += bytes;
  progress();
  return ends;
}

/*
 * Runs operations until all are finished in both directions, or a call has failed. Returns the longest time in seconds
 * without a checked operation.
 */
static double move(const struct chaos_order *order) {
  double end = now_seconds() + (double)order->milliseconds * 1e-3, last = now_seconds(), longest = 0;
  bool through = false;
  uint64_t seen = 0;
  for (int idle = 0; !through && sender.failed == NULL;) {
    bool ends = now_seconds() >= end;
    uint64_t before = streams.found + gotten;
    through = true;
    for (int context = 0; context < streams.contexts; context++) {
      for (int peer = 0; peer < RANKS; peer++) through &= sender_drive(&sender, peer, context, ends);
    }
    if (sender.failed == NULL) through &= drive_get(order->seed, ends);
    if (sender.failed == NULL) succeeded(plugin.calls.progress(plugin.contexts), "rmaProgress");
    if (streams.found != seen) {
      double now = now_seconds();
      if (seen != 0 && now - last > longest) longest = now - last;
      seen = streams.found;
      last = now;
      progress();
    }
    idle = streams.found + gotten != before ? 0 : idle + 1;
    if (idle > EAGER_PASSES)
      usleep(100);
    else if (idle > 0)
      sched_yield();
  }
  failed_at = now_seconds();
  return longest;
}

static void print_traffic(double longest_gap_seconds) {
  uint64_t sent = 0, received = 0;
  for (size_t stream = 0; stream < stream_count(&streams); stream++) {
    sent += sender.sendings[stream].tested;
    received += atomic_load(&streams.checked[stream]);
  }
  struct chaos_side puts = {
      .complete = sender.failed == NULL, .failed = sender.failed, .result = sender.result, .failed_at = failed_at};
  struct chaos_side signals = puts;
  if (sender.failed != NULL) {
    /* A rank that only waits for the other rank's signals can detect a failure only by this call. */
    signals.failed = "rmaProgress";
    signals.result = plugin.calls.progress(plugin.contexts);
  }
  printf("{\"event\":\"traffic\",\"rank\":%d,\"sent\":%llu,\"received\":%llu,\"bytes\":%llu,\"longest_gap_ms\":%.1f",
         options.rank, (unsigned long long)sent, (unsigned long long)(received + get_number),
         (unsigned long long)(streams.found + gotten), longest_gap_seconds * 1e3);
  chaos_print_side("send", &puts);
  chaos_print_side("receive", &signals);
  printf("}\n");
  fflush(stdout);
}

/*
 * Opens the connections by a first signal to each rank; otherwise, the run's first operation would open them. Faults
 * then start after the connections are open, as in heddle-chaos.
 */
static void open_connections(const struct one_sided_meeting *meeting) {
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    void *request = NULL;
    check(plugin.calls.put_signal(plugin.contexts, 0, 0, NULL, 0, 0, NULL, rank, word_offset(0, WORD_TOTAL),
                                  sender.words_memory, 0, NCCL_SIGNAL_ADD, false, &request),
          "iputSignal");
    while (!one_sided_is_done(&plugin, request)) one_sided_progress(&plugin);
  }
  one_sided_barrier(&plugin, meeting, "connected");
}

static void one_run(const struct chaos_order *order, const char *prefix) {
  unsigned leaks = net_lines_with("left open at the end");
  progress();
  if (one_sided_load(&plugin, options.plugin, options.table, prefix) != 0) exit(EXIT_PLUGIN_ERROR);
  int contexts = 1 + (int)(order->seed % MOST_CONTEXTS);
  struct one_sided_meeting meeting = {
      .folder = order->folder, .rank = options.rank, .ranks = RANKS, .timeout_seconds = options.timeout_seconds};
  one_sided_connect(&plugin, &meeting, contexts);
  memset(&streams, 0, sizeof streams);
  streams.rank = options.rank;
  streams.ranks = RANKS;
  streams.contexts = contexts;
  streams.seed = order->seed;
  streams.operations = UNTIL_KNOWN;
  streams.max_bytes = (size_t)order->max_bytes;
  streams.spoil = options.spoils && options.rank == 0;
  sender_register(&sender, &plugin, &streams);
  get_request = NULL;
  get_number = gotten = 0;
  fill_piece(gets, GET_BYTES, (uint64_t)options.rank);
  check(plugin.calls.reg(plugin.group, gets, sizeof gets, 1, 0, &gets_memory), "regMrSym");
  open_connections(&meeting);
  printf("{\"event\":\"start\",\"rank\":%d,\"pid\":%d}\n", options.rank, (int)getpid());
  fflush(stdout);
  pthread_t checker;
  if (pthread_create(&checker, NULL, check_streams, &streams) != 0) fail_with(EXIT_BAD_USAGE, "cannot run a thread");
  double longest_gap_seconds = move(order);
  atomic_store(&streams.stopped, sender.failed != NULL);
  pthread_join(checker, NULL);
  bool complete = sender.failed == NULL;
  if (complete) check_sums(&streams);
  print_traffic(longest_gap_seconds);
  if (!chaos_may_close()) fail_with(EXIT_BAD_USAGE, "standard input ended in the middle of a run");
  sender_deregister(&sender);
  check(plugin.calls.dereg(plugin.group, gets_memory), "deregMrSym");
  check(plugin.calls.destroy_contexts(plugin.contexts), "destroyContext");
  check(plugin.calls.close(plugin.group), "closeColl");
  check(plugin.calls.finalize(plugin.context), "finalize");
  if (complete) check_sums(&streams);
  sender_free(&sender);
  printf("{\"event\":\"end\",\"rank\":%d,\"wrong_bytes\":0,\"leaks\":%u}\n", options.rank,
         net_lines_with("left open at the end") - leaks);
  fflush(stdout);
}

int main(int argc, char **argv) {
  parse(argc, argv);
  char prefix[64];
  snprintf(prefix, sizeof prefix, "rank %d", options.rank);
  watch_for_hang(options.timeout_seconds);
  chaos_read_orders();
  for (const struct chaos_order *order = chaos_next_run(); order != NULL; order = chaos_next_run()) {
    one_run(order, prefix);
  }
  return 0;
}
