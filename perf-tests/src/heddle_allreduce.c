/*
 * One rank of a ring all-reduce of floats over a net plugin. As in NCCL, a service thread connects and registers
 * memory, and the progress thread sends and receives data. Each result is checked element by element.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_line.h"
#include "completions.h"
#include "net_plugin.h"
#include "rendezvous.h"
#include "report.h"
#include "ring.h"

#define MAX_DEVICES 16

static struct {
  const char *plugin, *folder, *until, *completions;
  int rank, ranks, abi, device, devices;
  size_t min_bytes, max_bytes;
  int iterations, warmup;
  double timeout_seconds;
  int log, trace;
} options = {.ranks = 2,
             .devices = 1,
             .min_bytes = 8,
             .max_bytes = 64 << 20,
             .iterations = 20,
             .warmup = 5,
             .timeout_seconds = 60,
             .log = 1,
             .rank = -1};

static struct net_plugin net;
static struct ring_buffers buffers;
static struct ring rings[MAX_DEVICES]; /* one ring for each device, which transfers its part of the buffers */

static void usage(FILE *to) {
  fprintf(to,
          "heddle-allreduce: one rank of a ring all-reduce of floats over an ncclNet plugin, every element checked\n"
          "  --plugin FILE           the plugin (libnccl-net-*.so)\n"
          "  --rendezvous FOLDER     shared folder of the ranks; empty before the run\n"
          "  --rank R --ranks N      this rank and the number of ranks (2)\n"
          "  --min-bytes B --max-bytes B   sizes, doubling (8, 67108864)\n"
          "  --iterations N --warmup N     per size (20, 5); --warmup 0 also omits the common warm-up\n"
          "  --until FILE            the largest size is repeated until rank 0 finds this file\n"
          "  --timeout-seconds S     time without progress after which the run ends with exit code 4 (60)\n"
          "  --abi V                 version of the plugin's interface, 6 to 12 (the newest it has)\n"
          "  --device D              the first device to use (0)\n"
          "  --devices N             number of devices: each carries its share in a separate ring (1)\n"
          "  --completions FILE      written at the end: each send's completion time (monotonic) and bytes\n"
          "  --quiet                 log the plugin's warnings only\n"
          "  --trace                 log the plugin's traces too, each line with the monotonic time\n"
          "exit codes: 0 every element right, 1 wrong data, 2 bad usage, 3 the plugin failed, 4 timed out\n");
}

static void parse(int argc, char **argv) {
  static const struct option_row rows[] = {
      {"plugin", OPTION_TEXT, &options.plugin, 0, 0, NULL},
      {"rendezvous", OPTION_TEXT, &options.folder, 0, 0, NULL},
      {"rank", OPTION_INT, &options.rank, 0, 1023, NULL},
      {"ranks", OPTION_INT, &options.ranks, 2, 1024, NULL},
      {"min-bytes", OPTION_SIZE, &options.min_bytes, 4, 1LL << 31, NULL},
      {"max-bytes", OPTION_SIZE, &options.max_bytes, 4, 1LL << 31, NULL},
      {"iterations", OPTION_INT, &options.iterations, 1, 1000000, NULL},
      {"warmup", OPTION_INT, &options.warmup, 0, 1000000, NULL},
      {"until", OPTION_TEXT, &options.until, 0, 0, NULL},
      {"timeout-seconds", OPTION_SECONDS, &options.timeout_seconds, 1, 86400, NULL},
      {"abi", OPTION_INT, &options.abi, 6, 12, NULL},
      {"device", OPTION_INT, &options.device, 0, 1023, NULL},
      {"devices", OPTION_INT, &options.devices, 1, MAX_DEVICES, NULL},
      {"completions", OPTION_TEXT, &options.completions, 0, 0, NULL},
      {"quiet", OPTION_OFF, &options.log, 0, 0, NULL},
      {"trace", OPTION_ON, &options.trace, 0, 0, NULL},
      {0}};
  read_options(argc, argv, rows, usage);
  if (options.plugin == NULL || options.folder == NULL || options.rank < 0 || options.rank >= options.ranks ||
      options.min_bytes > options.max_bytes) {
    bad_usage(usage);
  }
}

/* Returns a value whose sum over all ranks is a small whole number, so that sums of floats are exact in any order. */
static float value_of(int rank, size_t index) { return (float)((index * 7 + (size_t)rank * 13 + 1) % 61); }

static float sum_of(size_t index) {
  float sum = 0;
  for (int rank = 0; rank < options.ranks; rank++) sum += value_of(rank, index);
  return sum;
}

static void *serve(void *unused) {
  (void)unused;
  for (int i = 0; i < options.devices; i++) ring_connect(&rings[i], options.folder, options.timeout_seconds);
  return NULL;
}

/* Runs one all-reduce of `count` floats from input to output over all devices. */
static void all_reduce(size_t count) {
  size_t devices = (size_t)options.devices;
  for (size_t i = 0; i < devices; i++) {
    size_t first = count * i / devices;
    ring_begin(&rings[i], first, count * (i + 1) / devices - first);
  }
  for (size_t left = devices; left > 0;) {
    int moved = 0;
    left = 0;
    for (size_t i = 0; i < devices; i++) {
      if (ring_is_done(&rings[i])) continue;
      moved |= ring_step(&rings[i]);
      left++;
    }
    /* Like NCCL's progress thread, yields the core after a pass over all rings without progress. */
    if (!moved) sched_yield();
  }
}

static size_t wrong_elements(size_t count) {
  size_t wrong = 0;
  for (size_t i = 0; i < count; i++) wrong += buffers.output[i] != sum_of(i);
  return wrong;
}

/*
 * Starts the ranks together by a small all-reduce. Otherwise, a rank that still checks the last result would delay the
 * next iteration. Returns whether rank 0 made this iteration the last.
 */
static int start_together(void) {
  const float end_mark = 4096;
  float first = buffers.input[0];
  if (options.rank == 0 && options.until != NULL && access(options.until, F_OK) == 0) buffers.input[0] += end_mark;
  all_reduce((size_t)options.ranks);
  buffers.input[0] = first;
  return buffers.output[0] == sum_of(0) + end_mark;
}

/*
 * Prints a line from time to time, to show that iterations continue: those of one size may take minutes on a busy
 * machine.
 */
static void report_progress(size_t bytes, int iteration) {
  static double reported;
  double now = now_seconds();
  if (reported == 0) reported = now;
  if (now - reported < options.timeout_seconds / 8) return;
  reported = now;
  printf("{\"event\":\"under-way\",\"rank\":%d,\"bytes\":%zu,\"iteration\":%d}\n", options.rank, bytes, iteration);
  fflush(stdout);
}

static size_t run_size(size_t bytes) {
  size_t count = bytes / sizeof(float), wrong = 0;
  double seconds = 0;
  int endless = options.until != NULL && bytes * 2 > options.max_bytes, iteration;
  for (iteration = -options.warmup; endless || iteration < options.iterations; iteration++) {
    memset(buffers.output, 0xff, count * sizeof(float));
    endless &= !start_together();
    memset(buffers.output, 0xff, (size_t)options.ranks * sizeof(float));
    double start = now_seconds();
    all_reduce(count);
    if (iteration >= 0) seconds += now_seconds() - start;
    wrong += wrong_elements(count);
    progress();
    report_progress(bytes, iteration);
  }
  printf("{\"event\":\"size\",\"rank\":%d,\"bytes\":%zu,\"count\":%zu,\"iterations\":%d,\"time_us\":%.2f,"
         "\"wrong\":%zu}\n",
         options.rank, bytes, count, iteration, seconds / iteration * 1e6, wrong);
  fflush(stdout);
  return wrong;
}

/*
 * Runs small, medium and large all-reduces, which let a JIT-compiled plugin compile. They are neither timed nor
 * checked.
 */
static void warm_up(void) {
  static const struct {
    size_t bytes;
    int times;
  } phases[] = {{1024, 300}, {256 << 10, 150}, {8 << 20, 8}};
  for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
    size_t bytes = phases[i].bytes < options.max_bytes ? phases[i].bytes : options.max_bytes;
    for (int time = 0; time < phases[i].times; time++) all_reduce(bytes / sizeof(float));
  }
}

static void *run(void *unused) {
  (void)unused;
  static size_t wrong;
  if (options.warmup > 0) warm_up();
  for (size_t bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= 2) wrong += run_size(bytes);
  return &wrong;
}

/*
 * Waits for all ranks: no rank may close while another rank needs its acknowledgements. NCCL's own ranks also agree
 * before they close.
 */
static void wait_for_all(void) {
  char done = 1;
  if (rendezvous_put(options.folder, "done", options.rank, &done, 1) != 0) exit(EXIT_BAD_USAGE);
  for (int rank = 0; rank < options.ranks; rank++) {
    progress();
    if (rendezvous_get(options.folder, "done", rank, &done, 1, options.timeout_seconds) != 0) exit(EXIT_TIMED_OUT);
  }
}

static float *allocate(size_t bytes) {
  float *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (memory == NULL) fail_with(EXIT_BAD_USAGE, "no memory for %zu bytes", bytes);
  memset(memory, 0, bytes);
  return memory;
}

int main(int argc, char **argv) {
  parse(argc, argv);
  char prefix[64];
  snprintf(prefix, sizeof prefix, "rank %d", options.rank);
  watch_for_hang(options.timeout_seconds);
  size_t least = (size_t)options.ranks * sizeof(float);
  if (options.max_bytes < least) options.max_bytes = least;
  buffers = (struct ring_buffers){allocate(options.max_bytes), allocate(options.max_bytes), options.max_bytes};
  for (size_t i = 0; i < options.max_bytes / sizeof(float); i++) buffers.input[i] = value_of(options.rank, i);
  for (int i = 0; i < options.devices; i++) {
    rings[i] = (struct ring){.net = &net,
                             .rank = options.rank,
                             .ranks = options.ranks,
                             .device = options.device + i,
                             .buffers = &buffers,
                             .landing = allocate(OUTSTANDING * SLICE_BYTES)};
  }

  if (options.completions != NULL) completions_keep(options.completions);
  if (options.trace) net_trace();
  if (net_load(&net, options.plugin, options.abi, options.log ? prefix : NULL) != 0) return EXIT_PLUGIN_ERROR;
  if (options.device + options.devices > net.devices) {
    fail_with(EXIT_BAD_USAGE, "--device %d --devices %d: the plugin has %d devices", options.device, options.devices,
              net.devices);
  }
  printf("{\"event\":\"start\",\"rank\":%d,\"pid\":%d,\"net\":\"%s\",\"abi\":%d,\"devices\":%d}\n", options.rank,
         (int)getpid(), net.name, net.version, net.devices);
  fflush(stdout);

  pthread_t service, data;
  void *wrong = NULL;
  if (pthread_create(&service, NULL, serve, NULL) != 0 || pthread_join(service, NULL) != 0 ||
      pthread_create(&data, NULL, run, NULL) != 0 || pthread_join(data, &wrong) != 0) {
    fail_with(EXIT_BAD_USAGE, "cannot run a thread");
  }
  completions_write();
  wait_for_all();
  for (int i = 0; i < options.devices; i++) ring_close(&rings[i]);
  net_unload(&net);
  printf("{\"event\":\"end\",\"rank\":%d,\"wrong\":%zu}\n", options.rank, *(size_t *)wrong);
  fflush(stdout);
  return *(size_t *)wrong == 0 ? 0 : EXIT_WRONG_DATA;
}
