/*
 * One of two ranks that send each other random messages over a net plugin while somebody else spoils the network. Both
 * know the seed, so each message's size and bytes are known to the receiver without being told.
 *
 * What is watched: every byte of every message; guard bytes around each receive buffer; and canaries, which fill a buffer
 * from the moment when the plugin has handed it back until it is posted again, so that a write that comes late shows. A
 * source is overwritten as soon as its send is done, so that one that is read late shows as wrong data.
 */
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chaos_buffers.h"
#include "net_plugin.h"
#include "rendezvous.h"
#include "report.h"

#define TAG 3
#define RECEIVES 24 /* buffers; up to POSTED of them are posted, the others rest with their canaries */
#define POSTED 12
#define SENDS 12

static struct {
  const char *plugin, *folder;
  int rank, abi, spoils;
  uint64_t seed;
  double seconds, timeout_seconds;
  size_t max_bytes;
} options = {.rank = -1, .seed = 1, .seconds = 3, .timeout_seconds = 30, .max_bytes = 1 << 20};

static struct net_plugin net;
static void *listen_comm, *send_comm, *receive_comm;
static struct chaos_buffers receives, sends;
static void *receive_memory, *send_memory;

static struct {
  void *request;
  uint64_t message;
  int busy;
} receiving[RECEIVES], sending[SENDS];

/* Sums of the run. The last message of a direction is marked, since the sender alone knows which one it is. */
static uint64_t sent, received, receives_posted, sends_posted, bytes_received;
static int peer_ended, end_posted, end_sent;
static double longest_gap_seconds, last_arrival_seconds;

static void usage(FILE *to) {
  fprintf(to,
          "heddle-chaos: one of two ranks that send each other random messages, every byte checked, for use on a bad network\n"
          "  --plugin FILE           the plugin (libnccl-net-*.so)\n"
          "  --rendezvous FOLDER     where the ranks find each other; empty before the run\n"
          "  --rank R                0 or 1\n"
          "  --seed S                of the traffic, the same for both (1)\n"
          "  --seconds S             how long new messages are sent (3)\n"
          "  --max-bytes B           largest message (1048576)\n"
          "  --timeout-seconds S     without progress for so long, the run ends with exit code 4 (30)\n"
          "  --spoil                 change a byte of some messages, to see that it is found\n"
          "  --abi V                 version of the plugin's interface, 6 to 12 (the newest it has)\n"
          "exit codes: 0 every byte right, 1 wrong bytes, 2 bad usage, 3 the plugin failed (and no byte is wrong), 4 timed out\n");
}

static void parse(int argc, char **argv) {
  enum { PLUGIN = 1, FOLDER, RANK, SEED, SECONDS, MAX, TIMEOUT, ABI, SPOIL, HELP };
  static const struct option longs[] = {{"plugin", required_argument, NULL, PLUGIN},
                                        {"rendezvous", required_argument, NULL, FOLDER},
                                        {"rank", required_argument, NULL, RANK},
                                        {"seed", required_argument, NULL, SEED},
                                        {"seconds", required_argument, NULL, SECONDS},
                                        {"max-bytes", required_argument, NULL, MAX},
                                        {"timeout-seconds", required_argument, NULL, TIMEOUT},
                                        {"abi", required_argument, NULL, ABI},
                                        {"spoil", no_argument, NULL, SPOIL},
                                        {"help", no_argument, NULL, HELP},
                                        {NULL, 0, NULL, 0}};
  int found;
  while ((found = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
    switch (found) {
      case PLUGIN: options.plugin = optarg; break;
      case FOLDER: options.folder = optarg; break;
      case RANK: options.rank = (int)whole_number("--rank", optarg, 0, 1); break;
      case SEED: options.seed = (uint64_t)whole_number("--seed", optarg, 0, INT64_MAX); break;
      case SECONDS: options.seconds = (double)whole_number("--seconds", optarg, 1, 86400); break;
      case MAX: options.max_bytes = (size_t)whole_number("--max-bytes", optarg, 64, 64 << 20); break;
      case TIMEOUT: options.timeout_seconds = (double)whole_number("--timeout-seconds", optarg, 1, 86400); break;
      case ABI: options.abi = (int)whole_number("--abi", optarg, 6, 12); break;
      case SPOIL: options.spoils = 1; break;
      case HELP:
      case 'h': usage(stdout); exit(0);
      default: usage(stderr); exit(EXIT_BAD_USAGE);
    }
  }
  if (options.plugin == NULL || options.folder == NULL || options.rank < 0 || optind != argc) {
    usage(stderr);
    exit(EXIT_BAD_USAGE);
  }
}

static void report(const char *event, const char *call, int result) {
  printf("{\"event\":\"%s\",\"rank\":%d,\"call\":\"%s\",\"result\":%d,\"sent\":%llu,\"received\":%llu,\"bytes\":%llu,"
         "\"wrong_bytes\":%llu,\"guard_bytes\":%llu,\"canary_bytes\":%llu,\"longest_gap_ms\":%.1f}\n",
         event, options.rank, call, result, (unsigned long long)sent, (unsigned long long)received,
         (unsigned long long)bytes_received, (unsigned long long)receives.wrong_bytes,
         (unsigned long long)receives.guard_bytes, (unsigned long long)receives.canary_bytes, longest_gap_seconds * 1e3);
  fflush(stdout);
}

static int nothing_is_wrong(void) { return receives.wrong_bytes + receives.guard_bytes + receives.canary_bytes == 0; }

/* The plugin may fail where the network leaves it nothing to go on with; what it handed back must be whole even then. */
static void require(int result, const char *call) {
  if (result == 0) return;
  for (int i = 0; i < RECEIVES; i++) {
    if (!receiving[i].busy) chaos_check_rest(&receives, i);
    chaos_check_guards(&receives, i);
  }
  report("failed", call, result);
  _exit(nothing_is_wrong() ? EXIT_PLUGIN_ERROR : EXIT_WRONG_DATA);
}

static void connect_both(void) {
  char handle[NET_HANDLE_BYTES], other[NET_HANDLE_BYTES];
  require(net_listen(&net, 0, handle, &listen_comm), "listen");
  if (rendezvous_put(options.folder, "handle", options.rank, handle, sizeof handle) != 0) _exit(EXIT_BAD_USAGE);
  if (rendezvous_get(options.folder, "handle", 1 - options.rank, other, sizeof other, options.timeout_seconds) != 0) {
    _exit(EXIT_TIMED_OUT);
  }
  double start = now_seconds();
  while (send_comm == NULL || receive_comm == NULL) {
    if (send_comm == NULL) require(net_connect(&net, 0, other, &send_comm), "connect");
    if (receive_comm == NULL) require(net_accept(&net, listen_comm, &receive_comm), "accept");
    if (now_seconds() - start > options.timeout_seconds) fail_with(EXIT_TIMED_OUT, "no connection in time");
    usleep(200);
  }
  require(net_register(&net, receive_comm, receives.memory, receives.bytes, &receive_memory), "regMr");
  require(net_register(&net, send_comm, sends.memory, sends.bytes, &send_memory), "regMr");
}

static int idle_buffer(void) {
  /* Not the one that was handed back last: it is to rest for as long as there are others. */
  static int last;
  for (int i = 1; i <= RECEIVES; i++) {
    int buffer = (last + i) % RECEIVES;
    if (!receiving[buffer].busy) return last = buffer;
  }
  return -1;
}

static int post_receive(void) {
  if (peer_ended || receives_posted - received >= POSTED) return 0;
  int buffer = idle_buffer(), tag = TAG;
  void *data = chaos_data(&receives, buffer), *request = NULL;
  /* As large as the message, sometimes larger; NCCL asks for the most that may come, too. */
  size_t size = chaos_size(options.seed, 1 - options.rank, receives_posted, options.max_bytes) + 64;
  if (size > options.max_bytes + 64) size = options.max_bytes + 64;
  chaos_check_rest(&receives, buffer);
  require(net_irecv(&net, receive_comm, 1, &data, &size, &tag, &receive_memory, &request), "irecv");
  if (request == NULL) return 0;
  receiving[buffer].request = request;
  receiving[buffer].message = receives_posted++;
  receiving[buffer].busy = 1;
  return 1;
}

static int post_send(double end) {
  if (end_posted || sends_posted - sent >= SENDS) return 0;
  int buffer = (int)(sends_posted % SENDS), ends = now_seconds() >= end;
  if (sending[buffer].busy) return 0;
  size_t size = ends ? CHAOS_END_BYTES : chaos_size(options.seed, options.rank, sends_posted, options.max_bytes);
  void *data = chaos_data(&sends, buffer), *request = NULL;
  if (ends) chaos_fill_end(data); else chaos_fill(data, size, options.seed, options.rank, sends_posted);
  if (options.spoils && size > 0 && sends_posted % 32 == 31) ((unsigned char *)data)[size / 2] ^= 1;
  require(net_isend(&net, send_comm, data, size, TAG, send_memory, &request), "isend");
  if (request == NULL) return 0;
  sending[buffer].request = request;
  sending[buffer].message = sends_posted++;
  sending[buffer].busy = 1;
  end_posted = ends;
  return 1;
}

static int test_receives(void) {
  int moved = 0;
  for (int i = 0; i < RECEIVES; i++) {
    int done = 0, size = -1;
    if (!receiving[i].busy) continue;
    require(net_test(&net, receiving[i].request, &done, &size), "test");
    if (!done) continue;
    receiving[i].busy = 0;
    chaos_check_guards(&receives, i);
    if (chaos_is_end(chaos_data(&receives, i), size)) {
      peer_ended = 1;
    } else if (!peer_ended) {
      chaos_check(&receives, i, size, options.seed, 1 - options.rank, receiving[i].message, options.max_bytes);
    }
    chaos_rest(&receives, i, receiving[i].message);
    double now = now_seconds();
    if (received > 0 && now - last_arrival_seconds > longest_gap_seconds) longest_gap_seconds = now - last_arrival_seconds;
    last_arrival_seconds = now;
    received++;
    bytes_received += (uint64_t)size;
    progress();
    moved = 1;
  }
  return moved;
}

static int test_sends(void) {
  int moved = 0;
  for (int i = 0; i < SENDS; i++) {
    int done = 0;
    if (!sending[i].busy) continue;
    require(net_test(&net, sending[i].request, &done, NULL), "test");
    if (!done) continue;
    sending[i].busy = 0;
    chaos_spoil(&sends, i);
    if (end_posted && sending[i].message == sends_posted - 1) end_sent = 1;
    sent++;
    progress();
    moved = 1;
  }
  return moved;
}

static void *run(void *unused) {
  (void)unused;
  double end = now_seconds() + options.seconds;
  while (!peer_ended || !end_sent || sent < sends_posted) {
    int moved = post_receive();
    moved |= post_send(end);
    moved |= test_receives();
    moved |= test_sends();
    if (!moved) sched_yield();
  }
  /* What is held back somewhere may come now that everything is done. */
  usleep(50000);
  for (int i = 0; i < RECEIVES; i++) {
    if (!receiving[i].busy) chaos_check_rest(&receives, i);
    chaos_check_guards(&receives, i);
  }
  return NULL;
}

/* The comms stay driven until both are done: an acknowledgement may have to be given again. */
static void wait_for_other(void) {
  char done = 1;
  if (rendezvous_put(options.folder, "done", options.rank, &done, 1) != 0) exit(EXIT_BAD_USAGE);
  if (rendezvous_get(options.folder, "done", 1 - options.rank, &done, 1, options.timeout_seconds) != 0) exit(EXIT_TIMED_OUT);
}

int main(int argc, char **argv) {
  parse(argc, argv);
  char prefix[64];
  snprintf(prefix, sizeof prefix, "rank %d", options.rank);
  watch_for_hang(options.timeout_seconds);
  chaos_allocate(&receives, RECEIVES, options.max_bytes + 64, 1);
  chaos_allocate(&sends, SENDS, options.max_bytes + 64, 0);
  if (net_load(&net, options.plugin, options.abi, prefix) != 0) return EXIT_PLUGIN_ERROR;
  connect_both();
  progress();
  printf("{\"event\":\"start\",\"rank\":%d,\"pid\":%d}\n", options.rank, (int)getpid());
  fflush(stdout);
  pthread_t data;
  if (pthread_create(&data, NULL, run, NULL) != 0 || pthread_join(data, NULL) != 0) {
    fail_with(EXIT_BAD_USAGE, "cannot run a thread");
  }
  wait_for_other();
  require(net_deregister(&net, receive_comm, receive_memory), "deregMr");
  require(net_deregister(&net, send_comm, send_memory), "deregMr");
  require(net_close_send(&net, send_comm), "closeSend");
  require(net_close_receive(&net, receive_comm), "closeRecv");
  require(net_close_listen(&net, listen_comm), "closeListen");
  net_unload(&net);
  report("end", "", 0);
  return nothing_is_wrong() ? 0 : EXIT_WRONG_DATA;
}
