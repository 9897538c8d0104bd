/*
 * One rank of NCCL's own collectives on a GPU: all-reduce, all-gather and all-to-all over a range of sizes. The host
 * checks every element, and the times are in the columns of NCCL's tests. The environment chooses NCCL's transport;
 * run.sh runs this program with Heddle's plugin and with NCCL's sockets.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/rendezvous.h"
#include "../src/report.h"
#include "gpu_libraries.h"

enum { EXIT_NO_GPU = 77, MOST_RANKS = 64 };

enum collective { ALL_REDUCE, ALL_GATHER, ALL_TO_ALL, COLLECTIVES };

static const char *const NAMES[COLLECTIVES] = {"all_reduce", "all_gather", "all_to_all"};

static struct {
  const char *folder, *nccl;
  int rank, ranks, iterations, warmup, probe;
  size_t min_bytes, max_bytes;
  double timeout_seconds;
} options = {.rank = -1,
             .ranks = 2,
             .iterations = 20,
             .warmup = 5,
             .min_bytes = 8,
             .max_bytes = 64 << 20,
             .timeout_seconds = 120};

static struct gpu_libraries gpu;
static communicator comm;
static stream work;
static device_pointer source, target;
static float *host;

static void usage(FILE *to) {
  fprintf(to, "heddle-nccl: one rank of NCCL's collectives on a GPU, every element checked\n"
              "  --probe                 only report whether there is a GPU and NCCL\n"
              "  --rendezvous FOLDER     shared folder of the ranks; empty before the run\n"
              "  --rank R --ranks N      this rank and the number of ranks (2); rank R uses GPU R modulo their number\n"
              "  --min-bytes B --max-bytes B   sizes, times 8 each (8, 67108864)\n"
              "  --iterations N --warmup N     per size (20, 5)\n"
              "  --timeout-seconds S     time without progress after which the run ends with exit code 4 (120)\n"
              "  --nccl FILE             the library (libnccl.so.2)\n"
              "exit codes: 0 every element right, 1 wrong data, 2 bad usage, 3 NCCL or CUDA failed, 4 timed out, 77 no "
              "GPU here\n");
}

static void parse(int argc, char **argv) {
  enum { FOLDER = 1, RANK, RANKS, MIN, MAX, ITERATIONS, WARMUP, TIMEOUT, NCCL, PROBE, HELP };
  static const struct option longs[] = {{"rendezvous", required_argument, NULL, FOLDER},
                                        {"rank", required_argument, NULL, RANK},
                                        {"ranks", required_argument, NULL, RANKS},
                                        {"min-bytes", required_argument, NULL, MIN},
                                        {"max-bytes", required_argument, NULL, MAX},
                                        {"iterations", required_argument, NULL, ITERATIONS},
                                        {"warmup", required_argument, NULL, WARMUP},
                                        {"timeout-seconds", required_argument, NULL, TIMEOUT},
                                        {"nccl", required_argument, NULL, NCCL},
                                        {"probe", no_argument, NULL, PROBE},
                                        {"help", no_argument, NULL, HELP},
                                        {NULL, 0, NULL, 0}};
  int found;
  while ((found = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
    switch (found) {
      case FOLDER: options.folder = optarg; break;
      case RANK: options.rank = (int)whole_number("--rank", optarg, 0, MOST_RANKS - 1); break;
      case RANKS: options.ranks = (int)whole_number("--ranks", optarg, 2, MOST_RANKS); break;
      case MIN: options.min_bytes = (size_t)whole_number("--min-bytes", optarg, 4, 1LL << 31); break;
      case MAX: options.max_bytes = (size_t)whole_number("--max-bytes", optarg, 4, 1LL << 31); break;
      case ITERATIONS: options.iterations = (int)whole_number("--iterations", optarg, 1, 1000000); break;
      case WARMUP: options.warmup = (int)whole_number("--warmup", optarg, 0, 1000000); break;
      case TIMEOUT: options.timeout_seconds = (double)whole_number("--timeout-seconds", optarg, 1, 86400); break;
      case NCCL: options.nccl = optarg; break;
      case PROBE: options.probe = 1; break;
      case HELP:
      case 'h': usage(stdout); exit(0);
      default: usage(stderr); exit(EXIT_BAD_USAGE);
    }
  }
  int incomplete = options.folder == NULL || options.rank < 0 || options.rank >= options.ranks ||
                   options.min_bytes > options.max_bytes;
  if (optind != argc || (!options.probe && incomplete)) {
    usage(stderr);
    exit(EXIT_BAD_USAGE);
  }
}

static void cuda(cuda_result result, const char *call) {
  if (result != 0) fail_with(EXIT_PLUGIN_ERROR, "%s failed: CUDA error %d", call, result);
}

static void nccl(nccl_result result, const char *call) {
  if (result != 0) fail_with(EXIT_PLUGIN_ERROR, "%s failed: %s (%d)", call, gpu.error_text(result), result);
}

/* Returns a small whole number, so that sums of floats are exact in any order. */
static float value_of(int rank, size_t index) { return (float)((index * 7 + (size_t)rank * 13 + 1) % 61); }

/*
 * Returns the number of floats that a rank contributes, as NCCL's tests define it. `bytes`: size in the table's first
 * column.
 */
static size_t count_given(enum collective kind, size_t bytes) {
  size_t floats = bytes / sizeof(float), ranks = (size_t)options.ranks;
  return kind == ALL_REDUCE ? floats : kind == ALL_GATHER ? floats / ranks : floats / ranks * ranks;
}

static size_t count_taken(enum collective kind, size_t given) {
  return kind == ALL_GATHER ? given * (size_t)options.ranks : given;
}

static float expected(enum collective kind, size_t given, size_t index) {
  size_t ranks = (size_t)options.ranks;
  if (kind == ALL_REDUCE) {
    float sum = 0;
    for (int rank = 0; rank < options.ranks; rank++) sum += value_of(rank, index);
    return sum;
  }
  if (kind == ALL_GATHER) return value_of((int)(index / given), index % given);
  size_t block = given / ranks;
  return value_of((int)(index / block), (size_t)options.rank * block + index % block);
}

static void run_once(enum collective kind, size_t given) {
  if (kind == ALL_REDUCE) {
    nccl(gpu.all_reduce(source, target, given, NCCL_FLOAT32, NCCL_SUM, comm, work), "ncclAllReduce");
  } else if (kind == ALL_GATHER) {
    nccl(gpu.all_gather(source, target, given, NCCL_FLOAT32, comm, work), "ncclAllGather");
  } else {
    size_t block = given / (size_t)options.ranks;
    nccl(gpu.group_start(), "ncclGroupStart");
    for (int peer = 0; peer < options.ranks; peer++) {
      device_pointer offset = (device_pointer)peer * block * sizeof(float);
      nccl(gpu.send(source + offset, block, NCCL_FLOAT32, peer, comm, work), "ncclSend");
      nccl(gpu.receive(target + offset, block, NCCL_FLOAT32, peer, comm, work), "ncclRecv");
    }
    nccl(gpu.group_end(), "ncclGroupEnd");
  }
  cuda(gpu.await_stream(work), "cuStreamSynchronize");
  progress();
}

static size_t wrong_elements(enum collective kind, size_t given) {
  size_t taken = count_taken(kind, given), wrong = 0;
  cuda(gpu.to_host(host, target, taken * sizeof(float)), "cuMemcpyDtoH");
  for (size_t i = 0; i < taken; i++) wrong += host[i] != expected(kind, given, i);
  return wrong;
}

static size_t run_size(enum collective kind, size_t bytes) {
  size_t given = count_given(kind, bytes);
  if (given == 0) return 0;
  for (size_t i = 0; i < given; i++) host[i] = value_of(options.rank, i);
  cuda(gpu.to_device(source, host, given * sizeof(float)), "cuMemcpyHtoD");
  size_t wrong = 0;
  double seconds = 0;
  for (int iteration = -options.warmup; iteration < options.iterations; iteration++) {
    cuda(gpu.set_words(target, 0xffffffffu, count_taken(kind, given)), "cuMemsetD32");
    double start = now_seconds();
    run_once(kind, given);
    if (iteration >= 0) seconds += now_seconds() - start;
    wrong += wrong_elements(kind, given);
  }
  if (options.rank == 0) {
    double each = seconds / options.iterations, ranks = options.ranks;
    double share = kind == ALL_REDUCE ? 2 * (ranks - 1) / ranks : (ranks - 1) / ranks;
    double algorithm = (double)bytes / each / 1e9;
    printf("%12zu  %12zu  %6s  %10s  %10.1f  %7.3f  %7.3f  %6zu\n", bytes, given, "float", NAMES[kind], each * 1e6,
           algorithm, algorithm * share, wrong);
    fflush(stdout);
  }
  return wrong;
}

static void set_up(int devices) {
  int device = 0;
  void *context = NULL;
  cuda(gpu.device_get(&device, options.rank % devices), "cuDeviceGet");
  cuda(gpu.retain_context(&context, device), "cuDevicePrimaryCtxRetain");
  cuda(gpu.use_context(context), "cuCtxSetCurrent");
  cuda(gpu.make_stream(&work, 1), "cuStreamCreate");
  cuda(gpu.allocate(&source, options.max_bytes), "cuMemAlloc");
  cuda(gpu.allocate(&target, options.max_bytes), "cuMemAlloc");
  host = malloc(options.max_bytes);
  if (host == NULL) fail_with(EXIT_PLUGIN_ERROR, "no memory for %zu bytes", options.max_bytes);
  struct nccl_unique_id id;
  if (options.rank == 0) {
    nccl(gpu.unique_id(&id), "ncclGetUniqueId");
    if (rendezvous_put(options.folder, "nccl-id", 0, &id, sizeof id) != 0) exit(EXIT_PLUGIN_ERROR);
  } else if (rendezvous_get(options.folder, "nccl-id", 0, &id, sizeof id, options.timeout_seconds) != 0) {
    exit(EXIT_TIMED_OUT);
  }
  nccl(gpu.join(&comm, options.ranks, id, options.rank), "ncclCommInitRank");
  progress();
}

int main(int argc, char **argv) {
  parse(argc, argv);
  int devices = 0;
  char reason[512];
  if (gpu_libraries_open(&gpu, options.nccl, &devices, reason, sizeof reason) != 0) {
    fprintf(stderr, "no run of NCCL here: %s\n", reason);
    return EXIT_NO_GPU;
  }
  int version = 0, device = 0;
  char name[128] = "unknown";
  nccl(gpu.version(&version), "ncclGetVersion");
  cuda(gpu.device_get(&device, 0), "cuDeviceGet");
  gpu.device_name(name, sizeof name, device);
  if (options.probe || options.rank == 0) {
    printf("# NCCL %d.%d.%d, %d GPU%s, the first %s\n", version / 10000, version / 100 % 100, version % 100, devices,
           devices == 1 ? "" : "s", name);
  }
  if (options.probe) return 0;
  watch_for_hang(options.timeout_seconds);
  set_up(devices);
  if (options.rank == 0) {
    static const char HEAD[] = "#%11s  %12s  %6s  %10s  %10s  %7s  %7s  %6s\n";
    printf(HEAD, "size", "count", "type", "collective", "time", "algbw", "busbw", "#wrong");
    printf(HEAD, "(B)", "(elements)", "", "", "(us)", "(GB/s)", "(GB/s)", "");
  }
  size_t wrong = 0;
  for (int kind = 0; kind < COLLECTIVES; kind++) {
    for (size_t bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= 8) {
      wrong += run_size((enum collective)kind, bytes);
    }
  }
  nccl(gpu.leave(comm), "ncclCommDestroy");
  gpu.release(source);
  gpu.release(target);
  if (wrong > 0) fail_with(EXIT_WRONG_DATA, "rank %d: %zu elements are wrong", options.rank, wrong);
  return 0;
}
