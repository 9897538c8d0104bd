/*
 * Tests of NCCL's habits besides plain sending and receiving. NCCL polls the lines of a receive buffer before the
 * plugin reports the receive as done. It also aborts, begins again in the same process, and drives several groups of
 * communicators at once.
 */
#include <stdio.h>
#include <string.h>

#include "command_line.h"
#include "habits.h"

struct habits_options options = {
    .rank = -1, .ranks = 2, .rounds = 12, .seed = 1, .max_bytes = 1 << 18, .timeout_seconds = 60, .growth_kib = 8192};
struct net_plugin net;

static const char *only;

static const struct {
  const char *name;
  void (*run)(void);
  int ranks; /* number of ranks that the case needs; 0 for any number */
} cases[] = {{"lines", run_lines, 2}, {"aborts", run_aborts, 2}, {"cycles", run_cycles, 2}, {"groups", run_groups, 0}};

enum { CASES = sizeof cases / sizeof *cases };

static void usage(FILE *to) {
  fprintf(
      to,
      "heddle-habits: NCCL's calls of a net plugin besides sending and receiving\n"
      "  --case NAME             lines: rank 1 polls lines of data and flags in its receive buffers and reuses "
      "them\n"
      "                          aborts: close in the middle, finalize, init and connect, the peer 0.4 s later\n"
      "                          cycles: init, traffic, finalize, repeatedly, with limits on resources kept\n"
      "                          groups: two groups of communicators between all ranks at once, a fifth sends nothing\n"
      "  --plugin FILE           the plugin (libnccl-net-*.so)\n"
      "  --rendezvous FOLDER     shared folder of the ranks; empty before the run\n"
      "  --rank R                this process, from 0 on\n"
      "  --ranks N               number of ranks, 2 to 8; cases other than groups have 2 (2)\n"
      "  --rounds N              messages of lines, or of each link of groups; number of aborts, or of cycles (12)\n"
      "  --seed S                the same for all ranks (1)\n"
      "  --max-bytes B           largest message (262144)\n"
      "  --timeout-seconds S     time without progress after which the process ends with exit code 4 (60)\n"
      "  --abi V                 version of the plugin's interface, 6 to 12 (the newest it has)\n"
      "  --verbose               print the plugin's log\n"
      "lines:\n"
      "  --line-bytes B          8: each word is data and flag, as LL has it; 128: the last word is the flag, as LL128 "
      "(8)\n"
      "  --early                 reuse a line as soon as it was read, not only after the receive is done\n"
      "  --plane-failed TEXT     of a plugin's warning after which lines that were reused early may be written "
      "again\n"
      "  --spoil-data            rank 0 sends a flag with wrong data, to test the check\n"
      "  --spoil-late            rank 1 writes a line again after its reuse, to test the check\n"
      "cycles:\n"
      "  --growth-kib K          allowed growth of resident memory since the third cycle (8192)\n"
      "exit codes: 0 every check passed, 1 one failed, 2 bad usage, 3 a call failed that must not, 4 timed "
      "out\n");
}

static void parse(int argc, char **argv) {
  static const struct option_row rows[] = {
      {"case", OPTION_TEXT, &only, 0, 0, NULL},
      {"plugin", OPTION_TEXT, &options.plugin, 0, 0, NULL},
      {"rendezvous", OPTION_TEXT, &options.folder, 0, 0, NULL},
      {"rank", OPTION_INT, &options.rank, 0, HABITS_MOST_RANKS - 1, NULL},
      {"ranks", OPTION_INT, &options.ranks, 2, HABITS_MOST_RANKS, NULL},
      {"rounds", OPTION_INT, &options.rounds, 1, 1 << 30, NULL},
      {"seed", OPTION_SIZE, &options.seed, 0, INT64_MAX, NULL},
      {"max-bytes", OPTION_SIZE, &options.max_bytes, 4096, 64 << 20, NULL},
      {"timeout-seconds", OPTION_SECONDS, &options.timeout_seconds, 1, 86400, NULL},
      {"abi", OPTION_INT, &options.abi, 6, 12, NULL},
      {"verbose", OPTION_ON, &options.log, 0, 0, NULL},
      {"line-bytes", OPTION_INT, &options.line_bytes, 8, 128, NULL},
      {"early", OPTION_ON, &options.early, 0, 0, NULL},
      {"plane-failed", OPTION_TEXT, &options.plane_failed, 0, 0, NULL},
      {"spoil-data", OPTION_ON, &options.spoil_data, 0, 0, NULL},
      {"spoil-late", OPTION_ON, &options.spoil_late, 0, 0, NULL},
      {"growth-kib", OPTION_INT, &options.growth_kib, 1, 1 << 30, NULL},
      {0}};
  options.line_bytes = 8;
  read_options(argc, argv, rows, usage);
  if (only == NULL || options.plugin == NULL || options.folder == NULL || options.rank < 0) bad_usage(usage);
  if (options.rank >= options.ranks) fail_with(EXIT_BAD_USAGE, "--rank %d of --ranks %d", options.rank, options.ranks);
  if (options.line_bytes != 8 && options.line_bytes != 128) {
    fail_with(EXIT_BAD_USAGE, "--line-bytes %d: 8 or 128 is needed", options.line_bytes);
  }
}

int main(int argc, char **argv) {
  parse(argc, argv);
  char prefix[64];
  snprintf(prefix, sizeof prefix, "rank %d", options.rank);
  options.prefix = options.log ? prefix : NULL;
  for (int i = 0; i < CASES; i++) {
    if (strcmp(only, cases[i].name) != 0) continue;
    if (cases[i].ranks != 0 && cases[i].ranks != options.ranks) {
      fail_with(EXIT_BAD_USAGE, "--ranks %d: %s has %d", options.ranks, only, cases[i].ranks);
    }
    watch_for_hang(options.timeout_seconds);
    cases[i].run();
    printf("ok %s, rank %d, seed %zu\n", only, options.rank, options.seed);
    return 0;
  }
  fail_with(EXIT_BAD_USAGE, "--case %s: there is none of that name; --help names them", only);
}
