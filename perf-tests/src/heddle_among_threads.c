/*
 * One rank of all-reduces of floats, by a ring or by NCCL's pair of binary trees, with the threads of NCCL around a net
 * plugin. A worker thread does the kernels' work on the CPU, where it competes with the other threads for the cores.
 * Each result is checked element by element.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "among.h"
#include "command_line.h"
#include "rendezvous.h"
#include "report.h"

static struct {
  const char *plugin;
  int abi, turns, warmup, orders, threads, verbose, spoil;
  size_t min_bytes, max_bytes;
} options = {.turns = 20, .warmup = 1, .min_bytes = 8, .max_bytes = 64 << 20};

static struct net_plugin net;
static struct group group = {
    .net = &net, .rank = -1, .ranks = 2, .channel_count = 2, .spins = 200, .lines_bytes = 65536, .timeout_seconds = 60};
static float *input, *output;
static double *times;
static size_t wrong;

static void usage(FILE *to) {
  fprintf(
      to,
      "heddle-among-threads: one rank of all-reduces among NCCL's threads over an ncclNet plugin, every "
      "element checked\n"
      "  --plugin FILE --rendezvous FOLDER   required; the folder must be empty\n"
      "  --rank R --ranks N      this rank and the number of ranks, up to 8 (2)\n"
      "  --algorithm ring|tree   (ring)\n"
      "  --channels N            parallel connections, up to 16 (2)\n"
      "  --min-bytes B --max-bytes B   sizes, doubling (8, 67108864)\n"
      "  --turns N               all-reduces of each size (20)\n"
      "  --orders                read sizes and turns from standard input, one line each, as \"65536 20\", the same "
      "for all ranks\n"
      "  --lines-bytes B         sizes up to this use lines with flags, like NCCL's LL; larger ones "
      "counters (65536)\n"
      "  --spins N               empty polls after which the worker yields its core; 0: never (200)\n"
      "  --threads               report each thread's running time for each turn\n"
      "  --no-warmup             the first measurement is the first all-reduce\n"
      "  --spoil                 the last rank sends one wrong element\n"
      "  --timeout-seconds S     time without progress after which the process ends with exit code 4 (60)\n"
      "  --abi V                 version of the plugin's interface, 6 to 12 (the newest it has)\n"
      "  --verbose               print the plugin's log on standard error\n"
      "exit codes: 0 every element right, 1 wrong data, 2 bad usage, 3 the plugin failed, 4 timed out\n");
}

static void choose_algorithm(char *word) {
  if (strcmp(word, "ring") != 0 && strcmp(word, "tree") != 0) {
    fail_with(EXIT_BAD_USAGE, "--algorithm %s: ring or tree is needed", word);
  }
  group.algorithm = strcmp(word, "tree") == 0 ? TREE : RING;
}

static void parse(int argc, char **argv) {
  static const struct option_row rows[] = {{"plugin", OPTION_TEXT, &options.plugin, 0, 0, NULL},
                                           {"rendezvous", OPTION_TEXT, &group.folder, 0, 0, NULL},
                                           {"rank", OPTION_INT, &group.rank, 0, MOST_RANKS - 1, NULL},
                                           {"ranks", OPTION_INT, &group.ranks, 2, MOST_RANKS, NULL},
                                           {"algorithm", OPTION_WORDS, NULL, 0, 0, choose_algorithm},
                                           {"channels", OPTION_INT, &group.channel_count, 1, MOST_CHANNELS, NULL},
                                           {"min-bytes", OPTION_SIZE, &options.min_bytes, 4, 1LL << 30, NULL},
                                           {"max-bytes", OPTION_SIZE, &options.max_bytes, 4, 1LL << 30, NULL},
                                           {"turns", OPTION_INT, &options.turns, 1, 1000000, NULL},
                                           {"orders", OPTION_ON, &options.orders, 0, 0, NULL},
                                           {"lines-bytes", OPTION_SIZE, &group.lines_bytes, 0, 1LL << 30, NULL},
                                           {"spins", OPTION_INT, &group.spins, 0, 1000000000, NULL},
                                           {"threads", OPTION_ON, &options.threads, 0, 0, NULL},
                                           {"no-warmup", OPTION_OFF, &options.warmup, 0, 0, NULL},
                                           {"spoil", OPTION_ON, &options.spoil, 0, 0, NULL},
                                           {"timeout-seconds", OPTION_SECONDS, &group.timeout_seconds, 1, 86400, NULL},
                                           {"abi", OPTION_INT, &options.abi, 6, 12, NULL},
                                           {"verbose", OPTION_ON, &options.verbose, 0, 0, NULL},
                                           {0}};
  read_options(argc, argv, rows, usage);
  if (options.plugin == NULL || group.folder == NULL || group.rank < 0 || group.rank >= group.ranks ||
      options.min_bytes > options.max_bytes) {
    bad_usage(usage);
  }
}

/* Returns a value whose sum over all ranks is a small whole number, so that sums of floats are exact in any order. */
static float value_of(int rank, size_t index) { return (float)((index * 7 + (size_t)rank * 13 + 1) % 61); }

static size_t wrong_elements(size_t count) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    float sum = 0;
    for (int rank = 0; rank < group.ranks; rank++) sum += value_of(rank, i);
    found += output[i] != sum;
  }
  return found;
}

/*
 * Runs and times all-reduces of one size. Each starts after a small all-reduce, which all ranks finish at about the
 * same time.
 */
static void run_size(size_t bytes, int turns) {
  size_t count = bytes / sizeof(float), before = wrong;
  uint64_t sleeps = among_sleeps(), yields = among_yields();
  static struct account accounts[2][MOST_ACCOUNTS];
  int account_counts[2] = {0};
  if (options.threads) account_counts[0] = accounts_take(accounts[0]);
  for (int turn = 0; turn < turns; turn++) {
    among_all_reduce(&group, input, output, (size_t)group.ranks);
    wrong += wrong_elements((size_t)group.ranks);
    memset(output, 0xff, count * sizeof(float));
    if (options.spoil && group.rank == group.ranks - 1) group.spoil = 1;
    options.spoil = 0;
    double start = now_seconds();
    among_all_reduce(&group, input, output, count);
    times[turn] = (now_seconds() - start) * 1e6;
    wrong += wrong_elements(count);
    progress();
  }
  if (options.threads) account_counts[1] = accounts_take(accounts[1]);
  printf("{\"event\":\"turns\",\"rank\":%d,\"bytes\":%zu,\"wrong\":%zu,\"sleeps\":%llu,\"yields\":%llu,\"times_us\":[",
         group.rank, bytes, wrong - before, (unsigned long long)(among_sleeps() - sleeps),
         (unsigned long long)(among_yields() - yields));
  for (int turn = 0; turn < turns; turn++) printf("%s%.2f", turn == 0 ? "" : ",", times[turn]);
  printf("]");
  if (options.threads) {
    printf(",");
    accounts_print(accounts[0], account_counts[0], accounts[1], account_counts[1]);
  }
  printf("}\n");
  fflush(stdout);
}

/*
 * Runs small, medium and large all-reduces, which let a JIT-compiled plugin compile. They are neither timed nor
 * checked.
 */
static void warm_up(void) {
  static const struct {
    size_t bytes;
    int times;
  } phases[] = {{1024, 300}, {256 << 10, 60}, {8 << 20, 4}};
  for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
    size_t bytes = phases[i].bytes < options.max_bytes ? phases[i].bytes : options.max_bytes;
    for (int time = 0; time < phases[i].times; time++) {
      among_all_reduce(&group, input, output, bytes / sizeof(float));
      progress();
    }
  }
}

static void run_orders(void) {
  char line[128];
  for (;;) {
    pause_watch(1);
    char *got = fgets(line, sizeof line, stdin);
    pause_watch(0);
    if (got == NULL) return;
    size_t bytes;
    int turns;
    if (sscanf(line, "%zu %d", &bytes, &turns) != 2 || bytes < sizeof(float) || bytes > options.max_bytes ||
        turns < 1 || turns > options.turns) {
      fail_with(EXIT_BAD_USAGE, "no order: %s", line);
    }
    run_size(bytes, turns);
  }
}

static void *work(void *unused) {
  (void)unused;
  if (options.warmup) warm_up();
  if (options.orders) {
    printf("{\"event\":\"ready\",\"rank\":%d,\"net\":\"%s\"}\n", group.rank, net.name);
    fflush(stdout);
    run_orders();
  } else {
    for (size_t bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= 2) run_size(bytes, options.turns);
  }
  return NULL;
}

/*
 * Waits for all ranks: no rank may close while another rank needs its acknowledgements. NCCL's own ranks also agree
 * before they close.
 */
static void wait_for_all(void) {
  char done = 1;
  if (rendezvous_put(group.folder, "done", group.rank, &done, 1) != 0) exit(EXIT_BAD_USAGE);
  for (int rank = 0; rank < group.ranks; rank++) {
    progress();
    if (rendezvous_get(group.folder, "done", rank, &done, 1, group.timeout_seconds) != 0) exit(EXIT_TIMED_OUT);
  }
}

static void *allocate(size_t bytes) {
  void *memory = calloc(1, bytes);
  if (memory == NULL) fail_with(EXIT_BAD_USAGE, "no memory for %zu bytes", bytes);
  return memory;
}

int main(int argc, char **argv) {
  parse(argc, argv);
  char prefix[32];
  snprintf(prefix, sizeof prefix, "rank %d", group.rank);
  watch_for_hang(group.timeout_seconds);
  if (options.max_bytes < MOST_RANKS * sizeof(float)) options.max_bytes = MOST_RANKS * sizeof(float);
  input = allocate(options.max_bytes);
  output = allocate(options.max_bytes);
  times = allocate((size_t)options.turns * sizeof *times);
  for (size_t i = 0; i < options.max_bytes / sizeof(float); i++) input[i] = value_of(group.rank, i);
  if (net_load(&net, options.plugin, options.abi, options.verbose ? prefix : NULL) != 0) return EXIT_PLUGIN_ERROR;
  among_connect(&group);
  among_start_progress(&group);
  pthread_t worker;
  if (pthread_create(&worker, NULL, work, NULL) != 0 || pthread_setname_np(worker, "worker") != 0 ||
      pthread_join(worker, NULL) != 0) {
    fail_with(EXIT_BAD_USAGE, "cannot run a thread");
  }
  among_stop_progress(&group);
  wait_for_all();
  among_close(&group);
  net_unload(&net);
  printf("{\"event\":\"end\",\"rank\":%d,\"wrong\":%zu}\n", group.rank, wrong);
  fflush(stdout);
  return wrong == 0 ? 0 : EXIT_WRONG_DATA;
}
