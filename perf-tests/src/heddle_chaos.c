/*
 * One of two ranks that send each other random messages over a net plugin while another process disturbs the network.
 * Both ranks know the seed, so the receiver knows each message's size and bytes.
 *
 * It checks every byte of every message, guard bytes around each receive buffer, and canaries. Canaries fill a buffer
 * from its return by the plugin until it is posted again, and all buffers after the close, so that a late write is
 * detected. A send buffer is overwritten as soon as its send is done, so that a late read results in wrong data.
 *
 * A process makes many runs, one after another: each initialises the plugin, connects, exchanges messages, closes, and
 * finalizes the plugin. Orders come on standard input, results go to standard output, one per line.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chaos_orders.h"
#include "chaos_traffic.h"
#include "command_line.h"
#include "net_plugin.h"
#include "rendezvous.h"
#include "report.h"

static struct {
  const char *plugin, *folder, *until;
  int rank, abi, spoils;
  double seconds, timeout_seconds;
  size_t seed, max_bytes;
} options = {.rank = -1, .seed = 1, .max_bytes = 1 << 20, .timeout_seconds = 20};

static struct net_plugin net;
static uint64_t wrong_bytes;

static void usage(FILE *to) {
  fprintf(to,
          "heddle-chaos: one of two ranks that send each other random messages, every byte checked, for unreliable "
          "networks\n"
          "  --plugin FILE           the plugin (libnccl-net-*.so)\n"
          "  --rank R                0 or 1\n"
          "  --timeout-seconds S     time without progress after which the process ends with exit code 4 (20)\n"
          "  --spoil                 corrupt every other message, to test the check\n"
          "  --abi V                 version of the plugin's interface, 6 to 12 (the newest it has)\n"
          "lines of standard input:\n"
          "  run SEED MILLISECONDS MAX_BYTES FOLDER   the same for both ranks, FOLDER empty\n"
          "  close                   end the run, once its messages are finished or its communicators have failed\n"
          "  clock SECONDS           step this process's wall clock to this offset from the host's\n"
          "or one run, without standard input:\n"
          "  --rendezvous FOLDER     shared folder of the ranks; empty before the run\n"
          "  --seed S                of the traffic, the same for both (1)\n"
          "  --seconds S             time in which new messages are started (3)\n"
          "  --until FILE            start no more once this file exists; without --seconds only then\n"
          "  --max-bytes B           largest message (1048576)\n"
          "exit codes: 0 every byte right, 1 wrong bytes, 2 bad usage, 3 a call failed that must not, 4 timed out\n");
}

static void parse(int argc, char **argv) {
  static const struct option_row rows[] = {
      {"plugin", OPTION_TEXT, &options.plugin, 0, 0, NULL},
      {"rank", OPTION_INT, &options.rank, 0, 1, NULL},
      {"timeout-seconds", OPTION_SECONDS, &options.timeout_seconds, 1, 86400, NULL},
      {"abi", OPTION_INT, &options.abi, 6, 12, NULL},
      {"spoil", OPTION_ON, &options.spoils, 0, 0, NULL},
      {"rendezvous", OPTION_TEXT, &options.folder, 0, 0, NULL},
      {"seed", OPTION_SIZE, &options.seed, 0, INT64_MAX, NULL},
      {"seconds", OPTION_SECONDS, &options.seconds, 1, 86400, NULL},
      {"until", OPTION_TEXT, &options.until, 0, 0, NULL},
      {"max-bytes", OPTION_SIZE, &options.max_bytes, 64, 64 << 20, NULL},
      {0}};
  read_options(argc, argv, rows, usage);
  if (options.plugin == NULL || options.rank < 0) bad_usage(usage);
  if (options.seconds == 0) options.seconds = options.until != NULL ? 86400 : 3;
}

static void print_traffic(const struct chaos_outcome *outcome) {
  printf("{\"event\":\"traffic\",\"rank\":%d,\"sent\":%llu,\"received\":%llu,\"bytes\":%llu,\"longest_gap_ms\":%.1f",
         options.rank, (unsigned long long)outcome->sent, (unsigned long long)outcome->received,
         (unsigned long long)outcome->bytes, outcome->longest_gap_seconds * 1e3);
  chaos_print_side("send", &outcome->send);
  chaos_print_side("receive", &outcome->receive);
  printf("}\n");
  fflush(stdout);
}

static void print_end(const struct chaos_buffers *receives, unsigned leaks) {
  printf(
      "{\"event\":\"end\",\"rank\":%d,\"wrong_bytes\":%llu,\"guard_bytes\":%llu,\"canary_bytes\":%llu,\"leaks\":%u}\n",
      options.rank, (unsigned long long)receives->wrong_bytes, (unsigned long long)receives->guard_bytes,
      (unsigned long long)receives->canary_bytes, leaks);
  fflush(stdout);
  wrong_bytes += receives->wrong_bytes + receives->guard_bytes + receives->canary_bytes;
}

static void *move(void *outcome) {
  chaos_move(outcome);
  return NULL;
}

/* Makes one run. Returns whether both directions were complete. */
static int one_run(const struct chaos_run *run, const char *prefix, int (*may_close)(void)) {
  static struct chaos_outcome outcome;
  unsigned leaks = net_lines_with("left open at the end");
  progress();
  if (net_load(&net, options.plugin, options.abi, prefix) != 0) exit(EXIT_PLUGIN_ERROR);
  chaos_connect(&net, run);
  progress();
  printf("{\"event\":\"start\",\"rank\":%d,\"pid\":%d}\n", options.rank, (int)getpid());
  fflush(stdout);
  pthread_t data;
  if (pthread_create(&data, NULL, move, &outcome) != 0 || pthread_join(data, NULL) != 0) {
    fail_with(EXIT_BAD_USAGE, "cannot run a thread");
  }
  print_traffic(&outcome);
  /* Delayed packets may arrive from here on until the close, and after it. */
  if (!may_close()) fail_with(EXIT_BAD_USAGE, "standard input ended in the middle of a run");
  chaos_check_all();
  chaos_close();
  net_unload(&net);
  chaos_check_all();
  print_end(chaos_receives(), net_lines_with("left open at the end") - leaks);
  chaos_free();
  return outcome.send.complete && outcome.receive.complete;
}

static void runs_from_input(const char *prefix) {
  chaos_read_orders();
  for (const struct chaos_order *order = chaos_next_run(); order != NULL; order = chaos_next_run()) {
    const struct chaos_run run = {.folder = order->folder,
                                  .rank = options.rank,
                                  .spoils = options.spoils,
                                  .seed = order->seed,
                                  .seconds = (double)order->milliseconds * 1e-3,
                                  .timeout_seconds = options.timeout_seconds,
                                  .max_bytes = (size_t)order->max_bytes};
    one_run(&run, prefix, chaos_may_close);
  }
}

/*
 * Waits until the other rank is done; returns 1. The communicators stay open until then, because an acknowledgement may
 * have to be repeated.
 */
static int is_other_done(void) {
  char done = 1;
  if (rendezvous_put(options.folder, "done", options.rank, &done, 1) != 0) exit(EXIT_BAD_USAGE);
  if (rendezvous_get(options.folder, "done", 1 - options.rank, &done, 1, options.timeout_seconds) != 0)
    exit(EXIT_TIMED_OUT);
  return 1;
}

/*
 * Makes one run with the options of the command line. Returns the exit code, which doesn't cover wrong bytes: the
 * caller checks for those.
 */
static int run_of_options(const char *prefix) {
  const struct chaos_run run = {.folder = options.folder,
                                .until = options.until,
                                .rank = options.rank,
                                .spoils = options.spoils,
                                .seed = options.seed,
                                .seconds = options.seconds,
                                .timeout_seconds = options.timeout_seconds,
                                .max_bytes = options.max_bytes};
  return one_run(&run, prefix, is_other_done) ? 0 : EXIT_PLUGIN_ERROR;
}

int main(int argc, char **argv) {
  parse(argc, argv);
  char prefix[64];
  snprintf(prefix, sizeof prefix, "rank %d", options.rank);
  watch_for_hang(options.timeout_seconds);
  int code = 0;
  if (options.folder != NULL)
    code = run_of_options(prefix);
  else
    runs_from_input(prefix);
  return wrong_bytes == 0 ? code : EXIT_WRONG_DATA;
}
