/*
 * One rank of a ring all-reduce of floats over a net plugin. A service thread connects and registers, the progress thread
 * moves data, as in NCCL. Each result is checked element by element.
 */
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net_plugin.h"
#include "rendezvous.h"
#include "report.h"

#define SLICE_BYTES (512 * 1024)
#define SLICE_FLOATS (SLICE_BYTES / sizeof(float))
#define OUTSTANDING 8
#define TAG 7

static struct {
  const char *plugin, *folder;
  int rank, ranks, abi, device;
  size_t min_bytes, max_bytes;
  int iterations, warmup;
  double timeout_seconds;
  int log;
} options = {.ranks = 2, .min_bytes = 8, .max_bytes = 64 << 20, .iterations = 20, .warmup = 5, .timeout_seconds = 60,
             .log = 1, .rank = -1};

static struct net_plugin net;
static void *listen_comm, *send_comm, *receive_comm;
static float *input, *output, *landing; /* landing: OUTSTANDING slices for sums to be made */
static void *input_memory_send, *output_memory_send, *output_memory_receive, *landing_memory;

static void usage(FILE *to) {
  fprintf(to,
          "heddle-allreduce: one rank of a ring all-reduce of floats over an ncclNet plugin, every element checked\n"
          "  --plugin FILE           the plugin (libnccl-net-*.so)\n"
          "  --rendezvous FOLDER     where the ranks find each other; empty before the run\n"
          "  --rank R --ranks N      this rank and how many there are (2)\n"
          "  --min-bytes B --max-bytes B   sizes, doubling (8, 67108864)\n"
          "  --iterations N --warmup N     per size (20, 5); with --warmup 0 there is no common one before either\n"
          "  --timeout-seconds S     without progress for so long, the run ends with exit code 4 (60)\n"
          "  --abi V                 version of the plugin's interface, 6 to 12 (the newest it has)\n"
          "  --device D              (0)\n"
          "  --quiet                 of the plugin's log only warnings\n"
          "exit codes: 0 every element right, 1 wrong data, 2 bad usage, 3 the plugin failed, 4 timed out\n");
}

static void parse(int argc, char **argv) {
  enum { PLUGIN = 1, FOLDER, RANK, RANKS, MIN, MAX, ITERATIONS, WARMUP, TIMEOUT, ABI, DEVICE, QUIET, HELP };
  static const struct option longs[] = {
      {"plugin", required_argument, NULL, PLUGIN},       {"rendezvous", required_argument, NULL, FOLDER},
      {"rank", required_argument, NULL, RANK},           {"ranks", required_argument, NULL, RANKS},
      {"min-bytes", required_argument, NULL, MIN},       {"max-bytes", required_argument, NULL, MAX},
      {"iterations", required_argument, NULL, ITERATIONS}, {"warmup", required_argument, NULL, WARMUP},
      {"timeout-seconds", required_argument, NULL, TIMEOUT}, {"abi", required_argument, NULL, ABI},
      {"device", required_argument, NULL, DEVICE},       {"quiet", no_argument, NULL, QUIET},
      {"help", no_argument, NULL, HELP},                 {NULL, 0, NULL, 0}};
  int found;
  while ((found = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
    switch (found) {
      case PLUGIN: options.plugin = optarg; break;
      case FOLDER: options.folder = optarg; break;
      case RANK: options.rank = (int)whole_number("--rank", optarg, 0, 1023); break;
      case RANKS: options.ranks = (int)whole_number("--ranks", optarg, 2, 1024); break;
      case MIN: options.min_bytes = (size_t)whole_number("--min-bytes", optarg, 4, 1LL << 31); break;
      case MAX: options.max_bytes = (size_t)whole_number("--max-bytes", optarg, 4, 1LL << 31); break;
      case ITERATIONS: options.iterations = (int)whole_number("--iterations", optarg, 1, 1000000); break;
      case WARMUP: options.warmup = (int)whole_number("--warmup", optarg, 0, 1000000); break;
      case TIMEOUT: options.timeout_seconds = (double)whole_number("--timeout-seconds", optarg, 1, 86400); break;
      case ABI: options.abi = (int)whole_number("--abi", optarg, 6, 12); break;
      case DEVICE: options.device = (int)whole_number("--device", optarg, 0, 1023); break;
      case QUIET: options.log = 0; break;
      case HELP:
      case 'h': usage(stdout); exit(0);
      default: usage(stderr); exit(EXIT_BAD_USAGE);
    }
  }
  if (options.plugin == NULL || options.folder == NULL || options.rank < 0 || options.rank >= options.ranks ||
      options.min_bytes > options.max_bytes || optind != argc) {
    usage(stderr);
    exit(EXIT_BAD_USAGE);
  }
}

/* Values whose sum over all ranks is a small whole number, so that floats add up exactly in any order. */
static float value_of(int rank, size_t index) { return (float)((index * 7 + (size_t)rank * 13 + 1) % 61); }

static float sum_of(size_t index) {
  float sum = 0;
  for (int rank = 0; rank < options.ranks; rank++) sum += value_of(rank, index);
  return sum;
}

static void *serve(void *unused) {
  (void)unused;
  char handle[NET_HANDLE_BYTES];
  check(net_listen(&net, options.device, handle, &listen_comm), "listen");
  if (rendezvous_put(options.folder, "handle", options.rank, handle, sizeof handle) != 0) _exit(EXIT_BAD_USAGE);
  int next = (options.rank + 1) % options.ranks;
  char next_handle[NET_HANDLE_BYTES];
  if (rendezvous_get(options.folder, "handle", next, next_handle, sizeof next_handle, options.timeout_seconds) != 0) {
    _exit(EXIT_TIMED_OUT);
  }
  double start = now_seconds();
  while (send_comm == NULL || receive_comm == NULL) {
    if (send_comm == NULL) check(net_connect(&net, options.device, next_handle, &send_comm), "connect");
    if (receive_comm == NULL) check(net_accept(&net, listen_comm, &receive_comm), "accept");
    if (now_seconds() - start > options.timeout_seconds) fail_with(EXIT_TIMED_OUT, "no connection in time");
    usleep(100);
  }
  progress();
  check(net_register(&net, send_comm, input, options.max_bytes, &input_memory_send), "regMr");
  check(net_register(&net, send_comm, output, options.max_bytes, &output_memory_send), "regMr");
  check(net_register(&net, receive_comm, output, options.max_bytes, &output_memory_receive), "regMr");
  check(net_register(&net, receive_comm, landing, OUTSTANDING * SLICE_BYTES, &landing_memory), "regMr");
  return NULL;
}

struct range {
  size_t start, floats;
};

/* Slice `slice` of segment `segment` of a buffer of `count` floats. */
static struct range slice_of(size_t count, int segment, size_t slice) {
  size_t ranks = (size_t)options.ranks;
  size_t start = count * (size_t)segment / ranks, end = count * ((size_t)segment + 1) / ranks;
  struct range range = {start + slice * SLICE_FLOATS, 0};
  if (range.start < end) range.floats = end - range.start < SLICE_FLOATS ? end - range.start : SLICE_FLOATS;
  return range;
}

static int segment_of(int step, int behind) {
  return ((options.rank - step - behind) % options.ranks + 2 * options.ranks) % options.ranks;
}

/*
 * One all-reduce of `count` floats, input to output. Operation o of each direction is slice o % slices of ring step
 * o / slices; steps below ranks - 1 reduce, the rest gather. The slice that is sent in a step is the one received in the
 * step before, so sends follow receives slice by slice.
 */
static void all_reduce(size_t count) {
  size_t longest = (count + (size_t)options.ranks - 1) / (size_t)options.ranks;
  size_t slices = longest == 0 ? 1 : (longest + SLICE_FLOATS - 1) / SLICE_FLOATS;
  int reducing = options.ranks - 1;
  size_t operations = slices * 2 * (size_t)reducing;
  size_t receives_posted = 0, received = 0, sends_posted = 0, sent = 0;
  void *receive_requests[OUTSTANDING] = {NULL}, *send_requests[OUTSTANDING] = {NULL};

  while (received < operations || sent < operations) {
    size_t before = receives_posted + sends_posted + received + sent;
    while (receives_posted < operations && receives_posted < received + OUTSTANDING) {
      int step = (int)(receives_posted / slices);
      struct range range = slice_of(count, segment_of(step, 1), receives_posted % slices);
      int sums = step < reducing;
      void *data = sums ? landing + (receives_posted % OUTSTANDING) * SLICE_FLOATS : output + range.start;
      void *memory = sums ? landing_memory : output_memory_receive;
      size_t size = range.floats * sizeof(float);
      int tag = TAG;
      void **request = &receive_requests[receives_posted % OUTSTANDING];
      *request = NULL;
      check(net_irecv(&net, receive_comm, 1, &data, &size, &tag, &memory, request), "irecv");
      if (*request == NULL) break;
      receives_posted++;
    }
    while (sends_posted < operations && sends_posted < sent + OUTSTANDING &&
           (sends_posted < slices || received > sends_posted - slices)) {
      int step = (int)(sends_posted / slices);
      struct range range = slice_of(count, segment_of(step, 0), sends_posted % slices);
      int first = step == 0;
      void **request = &send_requests[sends_posted % OUTSTANDING];
      *request = NULL;
      check(net_isend(&net, send_comm, (first ? input : output) + range.start, range.floats * sizeof(float), TAG,
                      first ? input_memory_send : output_memory_send, request),
            "isend");
      if (*request == NULL) break;
      sends_posted++;
    }
    int done = 0;
    if (received < receives_posted) {
      int size = -1;
      check(net_test(&net, receive_requests[received % OUTSTANDING], &done, &size), "test");
      if (done) {
        int step = (int)(received / slices);
        struct range range = slice_of(count, segment_of(step, 1), received % slices);
        if ((size_t)size != range.floats * sizeof(float)) {
          fail_with(EXIT_WRONG_DATA, "a receive says %d bytes, %zu were sent", size, range.floats * sizeof(float));
        }
        if (step < reducing) {
          const float *arrived = landing + (received % OUTSTANDING) * SLICE_FLOATS;
          for (size_t i = 0; i < range.floats; i++) {
            output[range.start + i] = input[range.start + i] + arrived[i];
          }
        }
        received++;
        progress();
      }
    }
    if (sent < sends_posted) {
      check(net_test(&net, send_requests[sent % OUTSTANDING], &done, NULL), "test");
      if (done) {
        sent++;
        progress();
      }
    }
    /* NCCL's progress thread gives the core away, too, after a sweep that moved nothing. */
    if (receives_posted + sends_posted + received + sent == before) sched_yield();
  }
}

static size_t wrong_elements(size_t count) {
  size_t wrong = 0;
  for (size_t i = 0; i < count; i++) wrong += output[i] != sum_of(i);
  return wrong;
}

static size_t run_size(size_t bytes) {
  size_t count = bytes / sizeof(float), wrong = 0;
  double seconds = 0;
  for (int iteration = -options.warmup; iteration < options.iterations; iteration++) {
    memset(output, 0xff, count * sizeof(float));
    all_reduce((size_t)options.ranks); /* ranks start together: the next one waits for nobody's checking */
    memset(output, 0xff, (size_t)options.ranks * sizeof(float));
    double start = now_seconds();
    all_reduce(count);
    if (iteration >= 0) seconds += now_seconds() - start;
    wrong += wrong_elements(count);
    progress();
  }
  printf("{\"event\":\"size\",\"rank\":%d,\"bytes\":%zu,\"count\":%zu,\"iterations\":%d,\"time_us\":%.2f,"
         "\"wrong\":%zu}\n",
         options.rank, bytes, count, options.iterations, seconds / options.iterations * 1e6, wrong);
  fflush(stdout);
  return wrong;
}

/* Small, middling and large ones, so that a plugin that is compiled while it runs has been. Not timed, not checked. */
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

/* No rank closes while another still needs its acknowledgements, as NCCL's own ranks agree before they close. */
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
  input = allocate(options.max_bytes);
  output = allocate(options.max_bytes);
  landing = allocate(OUTSTANDING * SLICE_BYTES);
  for (size_t i = 0; i < options.max_bytes / sizeof(float); i++) input[i] = value_of(options.rank, i);

  if (net_load(&net, options.plugin, options.abi, options.log ? prefix : NULL) != 0) return EXIT_PLUGIN_ERROR;
  printf("{\"event\":\"start\",\"rank\":%d,\"pid\":%d,\"net\":\"%s\",\"abi\":%d,\"devices\":%d}\n", options.rank,
         (int)getpid(), net.name, net.version, net.devices);
  fflush(stdout);

  pthread_t service, data;
  void *wrong = NULL;
  if (pthread_create(&service, NULL, serve, NULL) != 0 || pthread_join(service, NULL) != 0 ||
      pthread_create(&data, NULL, run, NULL) != 0 || pthread_join(data, &wrong) != 0) {
    fail_with(EXIT_BAD_USAGE, "cannot run a thread");
  }
  wait_for_all();
  check(net_deregister(&net, send_comm, input_memory_send), "deregMr");
  check(net_deregister(&net, send_comm, output_memory_send), "deregMr");
  check(net_deregister(&net, receive_comm, output_memory_receive), "deregMr");
  check(net_deregister(&net, receive_comm, landing_memory), "deregMr");
  check(net_close_send(&net, send_comm), "closeSend");
  check(net_close_receive(&net, receive_comm), "closeRecv");
  check(net_close_listen(&net, listen_comm), "closeListen");
  net_unload(&net);
  printf("{\"event\":\"end\",\"rank\":%d,\"wrong\":%zu}\n", options.rank, *(size_t *)wrong);
  fflush(stdout);
  return *(size_t *)wrong == 0 ? 0 : EXIT_WRONG_DATA;
}
