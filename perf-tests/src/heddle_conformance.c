/*
 * Guarantees that NCCL expects of a net plugin, tested by two processes: rank 0 sends, rank 1 receives. Both run the
 * same list of cases with the same seed; each case has its own communicators. Output is TAP, one line per case.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

struct conformance_options options = {.rank = -1, .seed = 1, .timeout_seconds = 60};
struct net_plugin net;
int max_receives;

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
    {"sizes_of_every_kind", sizes_of_every_kind},
    {"receives_larger_than_sends", receives_larger_than_sends},
    {"groups_with_tags_in_any_order", groups_with_tags_in_any_order},
    {"equal_tags_in_a_group_match_in_order", equal_tags_in_a_group_match_in_order},
    {"random_sizes_and_orders", random_sizes_and_orders},
    {"two_hundred_and_fifty_six_in_flight", two_hundred_and_fifty_six_in_flight},
    {"slots_and_generations_wrap", slots_and_generations_wrap},
    {"a_full_communicator_would_block", a_full_communicator_would_block},
    {"many_communicators_in_turn", many_communicators_in_turn},
    {"two_threads_with_a_communicator_each", two_threads_with_a_communicator_each},
    {"registration_during_traffic", registration_during_traffic},
    {"parts_of_a_registered_range", parts_of_a_registered_range},
    {"memory_behind_a_dma_buf", memory_behind_a_dma_buf},
    {"connect_ends_before_accept_begins", connect_ends_before_accept_begins},
    {"accept_is_polled_long_before_connect", accept_is_polled_long_before_connect},
    {"listener_without_connections_can_be_closed", listener_without_connections_can_be_closed},
    {"close_with_requests_in_flight", close_with_requests_in_flight},
    {"sends_to_a_peer_that_closes_would_block", sends_to_a_peer_that_closes_would_block},
    {"sends_larger_than_their_receives_are_cut", sends_larger_than_their_receives_are_cut},
    {"sends_of_a_group_are_cut_each_to_its_receive", sends_of_a_group_are_cut_each_to_its_receive},
    {"one_big_message", one_big_message},
};

static void usage(FILE *to) {
  fprintf(to, "heddle-conformance: NCCL's requirements of an ncclNet plugin, tested by two processes (rank 0 sends)\n"
              "  --plugin FILE --rendezvous FOLDER --rank 0|1   required\n"
              "  --case NAME        only this case; --list lists them\n"
              "  --seed S           of the random cases (1)\n"
              "  --big-bytes B      also one message of this size\n"
              "  --timeout-seconds S  (60)    --abi V  (newest)    --device D  (0)    --verbose\n");
}

int main(int argc, char **argv) {
  enum { PLUGIN = 1, FOLDER, RANK, CASE, LIST, SEED, BIG, TIMEOUT, ABI, DEVICE, VERBOSE, HELP };
  static const struct option longs[] = {{"plugin", required_argument, NULL, PLUGIN},
                                        {"rendezvous", required_argument, NULL, FOLDER},
                                        {"rank", required_argument, NULL, RANK},
                                        {"case", required_argument, NULL, CASE},
                                        {"list", no_argument, NULL, LIST},
                                        {"seed", required_argument, NULL, SEED},
                                        {"big-bytes", required_argument, NULL, BIG},
                                        {"timeout-seconds", required_argument, NULL, TIMEOUT},
                                        {"abi", required_argument, NULL, ABI},
                                        {"device", required_argument, NULL, DEVICE},
                                        {"verbose", no_argument, NULL, VERBOSE},
                                        {"help", no_argument, NULL, HELP},
                                        {NULL, 0, NULL, 0}};
  const int count = (int)(sizeof cases / sizeof *cases);
  int found;
  while ((found = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
    switch (found) {
      case PLUGIN: options.plugin = optarg; break;
      case FOLDER: options.folder = optarg; break;
      case RANK: options.rank = (int)whole_number("--rank", optarg, 0, 1); break;
      case CASE: options.only = optarg; break;
      case LIST:
        for (int i = 0; i < count; i++) puts(cases[i].name);
        return 0;
      case SEED: options.seed = (uint64_t)whole_number("--seed", optarg, 0, INT64_MAX); break;
      case BIG: options.big_bytes = (size_t)whole_number("--big-bytes", optarg, 1, 1LL << 30); break;
      case TIMEOUT: options.timeout_seconds = (double)whole_number("--timeout-seconds", optarg, 1, 86400); break;
      case ABI: options.abi = (int)whole_number("--abi", optarg, 6, 12); break;
      case DEVICE: options.device = (int)whole_number("--device", optarg, 0, 1023); break;
      case VERBOSE: options.log = 1; break;
      case HELP:
      case 'h': usage(stdout); return 0;
      default: usage(stderr); return EXIT_BAD_USAGE;
    }
  }
  if (options.plugin == NULL || options.folder == NULL || options.rank < 0 || optind != argc) {
    usage(stderr);
    return EXIT_BAD_USAGE;
  }
  watch_for_hang(options.timeout_seconds);
  char prefix[64];
  snprintf(prefix, sizeof prefix, "rank %d", options.rank);
  if (net_load(&net, options.plugin, options.abi, options.log ? prefix : NULL) != 0) return EXIT_PLUGIN_ERROR;
  max_receives = net_max_receives(&net, options.device);
  if (max_receives > NET_MAX_RECEIVES) max_receives = NET_MAX_RECEIVES;
  printf("# %s, interface version %d, seed %llu\n", net.name, net.version, (unsigned long long)options.seed);
  int ran = 0;
  for (int i = 0; i < count; i++) {
    if (options.only != NULL && strcmp(options.only, cases[i].name) != 0) continue;
    double start = now_seconds();
    if (cases[i].run == one_big_message && options.big_bytes == 0) {
      printf("ok %d - %s # SKIP without --big-bytes\n", ++ran, cases[i].name);
      continue;
    }
    cases[i].run();
    printf("ok %d - %s # %.2f s\n", ++ran, cases[i].name, now_seconds() - start);
    fflush(stdout);
  }
  if (ran == 0) fail_with(EXIT_BAD_USAGE, "there is no case %s; --list names them", options.only);
  printf("1..%d\n", ran);
  barrier();
  net_unload(&net);
  return 0;
}
