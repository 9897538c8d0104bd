#include "plugin_perf_options.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

struct plugin_perf_options options = {.rank = -1, .outstanding = 8, .rounds = 5, .min_bytes = 8, .max_bytes = 16 << 20, .factor = 2,
             .latency_max_bytes = 64 << 10, .seconds = 0.3, .warmup_seconds = 2, .timeout_seconds = 60, .log = 1,
             .bandwidth = 1, .latency = 1, .duplex = 1};

static void usage(FILE *to) {
  fprintf(to,
          "heddle-plugin-perf: bandwidth and half round trip of an ncclNet plugin, two processes, JSON lines\n"
          "  --plugin FILE           the plugin (libnccl-net-*.so)\n"
          "  --rendezvous FOLDER     where the two ranks find each other; empty before the run\n"
          "  --rank 0|1              0 sends and times round trips, 1 receives\n"
          "  --kinds LIST            of bandwidth, duplex, latency (all)\n"
          "  --min-bytes B --max-bytes B --factor F   sizes (8, 16777216, 2)\n"
          "  --latency-max-bytes B   largest size of a round trip (65536)\n"
          "  --outstanding N         messages under way, 1 to %d (8)\n"
          "  --rounds N              how often the list of measurements is gone through (5)\n"
          "  --milliseconds T        length of a measurement (300)\n"
          "  --warmup-milliseconds T before the first (2000)\n"
          "  --turns                 wait for a line on standard input before each measurement\n"
          "  --pin                   keep the thread that moves data on one processor, each rank on its own\n"
          "  --timeout-seconds S     without progress for so long, the run ends with exit code 4 (60)\n"
          "  --abi V                 version of the plugin's interface, 6 to 12 (the newest it has)\n"
          "  --device D              (0)\n"
          "  --quiet                 of the plugin's log only warnings\n"
          "exit codes: 0 all right, 1 wrong data, 2 bad usage, 3 the plugin failed, 4 timed out\n",
          MOST_OUTSTANDING);
}

static void choose_kinds(char *list) {
  options.bandwidth = options.duplex = options.latency = 0;
  for (char *rest = NULL, *kind = strtok_r(list, ",", &rest); kind != NULL; kind = strtok_r(NULL, ",", &rest)) {
    if (strcmp(kind, "bandwidth") == 0) {
      options.bandwidth = 1;
    } else if (strcmp(kind, "duplex") == 0) {
      options.duplex = 1;
    } else if (strcmp(kind, "latency") == 0) {
      options.latency = 1;
    } else {
      fail_with(EXIT_BAD_USAGE, "--kinds %s: bandwidth, duplex and latency are known", kind);
    }
  }
}

void parse_options(int argc, char **argv) {
  enum { PLUGIN = 1, FOLDER, RANK, KINDS, MIN, MAX, FACTOR, LATENCY_MAX, OUTSTANDING, ROUNDS, TIME, WARMUP, TURNS,
         PIN, TIMEOUT, ABI, DEVICE, QUIET, HELP };
  static const struct option longs[] = {
      {"plugin", required_argument, NULL, PLUGIN},
      {"rendezvous", required_argument, NULL, FOLDER},
      {"rank", required_argument, NULL, RANK},
      {"kinds", required_argument, NULL, KINDS},
      {"min-bytes", required_argument, NULL, MIN},
      {"max-bytes", required_argument, NULL, MAX},
      {"factor", required_argument, NULL, FACTOR},
      {"latency-max-bytes", required_argument, NULL, LATENCY_MAX},
      {"outstanding", required_argument, NULL, OUTSTANDING},
      {"rounds", required_argument, NULL, ROUNDS},
      {"milliseconds", required_argument, NULL, TIME},
      {"warmup-milliseconds", required_argument, NULL, WARMUP},
      {"turns", no_argument, NULL, TURNS},
      {"pin", no_argument, NULL, PIN},
      {"timeout-seconds", required_argument, NULL, TIMEOUT},
      {"abi", required_argument, NULL, ABI},
      {"device", required_argument, NULL, DEVICE},
      {"quiet", no_argument, NULL, QUIET},
      {"help", no_argument, NULL, HELP},
      {NULL, 0, NULL, 0}};
  int found;
  while ((found = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
    switch (found) {
      case PLUGIN: options.plugin = optarg; break;
      case FOLDER: options.folder = optarg; break;
      case RANK: options.rank = (int)whole_number("--rank", optarg, 0, 1); break;
      case KINDS: choose_kinds(optarg); break;
      case MIN: options.min_bytes = (size_t)whole_number("--min-bytes", optarg, 1, 1LL << 30); break;
      case MAX: options.max_bytes = (size_t)whole_number("--max-bytes", optarg, 1, 1LL << 30); break;
      case FACTOR: options.factor = (size_t)whole_number("--factor", optarg, 2, 1024); break;
      case LATENCY_MAX:
        options.latency_max_bytes = (size_t)whole_number("--latency-max-bytes", optarg, 1, 1LL << 30);
        break;
      case OUTSTANDING:
        options.outstanding = (int)whole_number("--outstanding", optarg, 1, MOST_OUTSTANDING);
        break;
      case ROUNDS: options.rounds = (int)whole_number("--rounds", optarg, 1, 10000); break;
      case TIME: options.seconds = (double)whole_number("--milliseconds", optarg, 1, 600000) * 1e-3; break;
      case WARMUP:
        options.warmup_seconds = (double)whole_number("--warmup-milliseconds", optarg, 0, 600000) * 1e-3;
        break;
      case TURNS: options.turns = 1; break;
      case PIN: options.pin = 1; break;
      case TIMEOUT: options.timeout_seconds = (double)whole_number("--timeout-seconds", optarg, 1, 86400); break;
      case ABI: options.abi = (int)whole_number("--abi", optarg, 6, 12); break;
      case DEVICE: options.device = (int)whole_number("--device", optarg, 0, 1023); break;
      case QUIET: options.log = 0; break;
      case HELP:
      case 'h': usage(stdout); exit(0);
      default: usage(stderr); exit(EXIT_BAD_USAGE);
    }
  }
  if (options.plugin == NULL || options.folder == NULL || options.rank < 0 || options.min_bytes > options.max_bytes ||
      optind != argc) {
    usage(stderr);
    exit(EXIT_BAD_USAGE);
  }
}
