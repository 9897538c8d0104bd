/* Command line of heddle-plugin-perf. */
#ifndef HEDDLE_PLUGIN_PERF_OPTIONS_H
#define HEDDLE_PLUGIN_PERF_OPTIONS_H

#include <stddef.h>

#define MOST_OUTSTANDING 32
#define MOST_FLOWS 16

struct plugin_perf_options {
  const char *plugin, *folder;
  int rank, abi, device, outstanding, flows, rounds, turns, pin, log;
  int bandwidth, latency, duplex;
  size_t min_bytes, max_bytes, latency_max_bytes, factor;
  double seconds, warmup_seconds, timeout_seconds;
};

extern struct plugin_perf_options options;

/* Ends the process if the command line is wrong or requests help. */
void parse_options(int argc, char **argv);

#endif
