#include "plugin_perf_options.h"

#include <stdio.h>
#include <string.h>

#include "command_line.h"
#include "report.h"

struct plugin_perf_options options = {.rank = -1,
                                      .outstanding = 8,
                                      .flows = 1,
                                      .rounds = 5,
                                      .min_bytes = 8,
                                      .max_bytes = 16 << 20,
                                      .factor = 2,
                                      .latency_max_bytes = 64 << 10,
                                      .seconds = 0.3,
                                      .warmup_seconds = 2,
                                      .timeout_seconds = 60,
                                      .log = 1,
                                      .bandwidth = 1,
                                      .latency = 1,
                                      .duplex = 1};

static void usage(FILE *to) {
  fprintf(to,
          "heddle-plugin-perf: bandwidth and half round trip of an ncclNet plugin, two processes, JSON lines\n"
          "  --plugin FILE           the plugin (libnccl-net-*.so)\n"
          "  --rendezvous FOLDER     shared folder of the two ranks; empty before the run\n"
          "  --rank 0|1              0 sends and times round trips, 1 receives\n"
          "  --kinds LIST            of bandwidth, duplex, latency (all)\n"
          "  --min-bytes B --max-bytes B --factor F   sizes (8, 16777216, 2)\n"
          "  --latency-max-bytes B   largest size of a round trip (65536)\n"
          "  --outstanding N         messages in flight, 1 to %d (8)\n"
          "  --flows N               connections in each direction, moved by one thread in turn, 1 to %d (1)\n"
          "  --rounds N              repetitions of the list of measurements (5)\n"
          "  --milliseconds T        length of a measurement (300)\n"
          "  --warmup-milliseconds T before the first (2000)\n"
          "  --turns                 wait for a line on standard input before each measurement\n"
          "  --pin                   pin the thread that moves data to a processor, each rank to its own\n"
          "  --timeout-seconds S     time without progress after which the run ends with exit code 4 (60)\n"
          "  --abi V                 version of the plugin's interface, 6 to 12 (the newest it has)\n"
          "  --device D              (0)\n"
          "  --quiet                 log the plugin's warnings only\n"
          "exit codes: 0 every byte right, 1 wrong data, 2 bad usage, 3 the plugin failed, 4 timed out\n",
          MOST_OUTSTANDING, MOST_FLOWS);
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
  static const struct option_row rows[] = {
      {"plugin", OPTION_TEXT, &options.plugin, 0, 0, NULL},
      {"rendezvous", OPTION_TEXT, &options.folder, 0, 0, NULL},
      {"rank", OPTION_INT, &options.rank, 0, 1, NULL},
      {"kinds", OPTION_WORDS, NULL, 0, 0, choose_kinds},
      {"min-bytes", OPTION_SIZE, &options.min_bytes, 1, 1LL << 30, NULL},
      {"max-bytes", OPTION_SIZE, &options.max_bytes, 1, 1LL << 30, NULL},
      {"factor", OPTION_SIZE, &options.factor, 2, 1024, NULL},
      {"latency-max-bytes", OPTION_SIZE, &options.latency_max_bytes, 1, 1LL << 30, NULL},
      {"outstanding", OPTION_INT, &options.outstanding, 1, MOST_OUTSTANDING, NULL},
      {"flows", OPTION_INT, &options.flows, 1, MOST_FLOWS, NULL},
      {"rounds", OPTION_INT, &options.rounds, 1, 10000, NULL},
      {"milliseconds", OPTION_MILLISECONDS, &options.seconds, 1, 600000, NULL},
      {"warmup-milliseconds", OPTION_MILLISECONDS, &options.warmup_seconds, 0, 600000, NULL},
      {"turns", OPTION_ON, &options.turns, 0, 0, NULL},
      {"pin", OPTION_ON, &options.pin, 0, 0, NULL},
      {"timeout-seconds", OPTION_SECONDS, &options.timeout_seconds, 1, 86400, NULL},
      {"abi", OPTION_INT, &options.abi, 6, 12, NULL},
      {"device", OPTION_INT, &options.device, 0, 1023, NULL},
      {"quiet", OPTION_OFF, &options.log, 0, 0, NULL},
      {0}};
  read_options(argc, argv, rows, usage);
  if (options.plugin == NULL || options.folder == NULL || options.rank < 0 || options.min_bytes > options.max_bytes) {
    bad_usage(usage);
  }
}
