#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "net_plugin.h"
#include "rendezvous.h"
#include "report.h"
#include "transfer.h"

enum { TAG = 3 };

/*
 * A connection in each direction with one rank. Receives are posted before their messages arrive, and complete in
 * order.
 */
struct peer {
  void *listener, *send_comm, *receive_comm, *send_memory, *receive_memory;
  uint64_t expected, posted, arrived;
  void *receives[TRANSFER_MOST_DEPTH];
};

static const struct transfer_options *options;
static struct net_plugin net;
static struct peer peers[TRANSFER_MOST_RANKS];
static unsigned char *from, *into;

unsigned char *transfer_memory(const struct transfer_options *of, size_t *bytes) {
  *bytes = transfer_piece(of, of->ranks, 0) + 1;
  unsigned char *found = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (found == MAP_FAILED) fail_with(EXIT_BAD_USAGE, "no memory: %zu bytes; ask for less with --bytes", *bytes);
  return found;
}

static void connect_all(char theirs[][NET_HANDLE_BYTES]) {
  double start = now_seconds();
  for (int left = 1; left > 0; sched_yield()) {
    left = 0;
    for (int rank = 0; rank < options->ranks; rank++) {
      struct peer *peer = &peers[rank];
      if (rank == options->rank) continue;
      if (peer->send_comm == NULL) check(net_connect(&net, 0, theirs[rank], &peer->send_comm), "connect");
      if (peer->receive_comm == NULL) check(net_accept(&net, peer->listener, &peer->receive_comm), "accept");
      left += peer->send_comm == NULL || peer->receive_comm == NULL;
    }
    if (now_seconds() - start > options->timeout_seconds) fail_with(EXIT_TIMED_OUT, "no connection in time");
    progress();
  }
}

static void open(const struct transfer_options *wanted) {
  options = wanted;
  if (net_load(&net, options->plugin, 0, options->log_prefix) != 0) exit(EXIT_PLUGIN_ERROR);
  progress();
  char own[TRANSFER_MOST_RANKS][NET_HANDLE_BYTES] = {0}, theirs[TRANSFER_MOST_RANKS][NET_HANDLE_BYTES];
  for (int rank = 0; rank < options->ranks; rank++) {
    if (rank != options->rank) check(net_listen(&net, 0, own[rank], &peers[rank].listener), "listen");
  }
  if (rendezvous_put(options->folder, "handles", options->rank, own, sizeof own) != 0) exit(EXIT_BAD_USAGE);
  for (int rank = 0; rank < options->ranks; rank++) {
    char all[TRANSFER_MOST_RANKS][NET_HANDLE_BYTES];
    if (rendezvous_get(options->folder, "handles", rank, all, sizeof all, options->timeout_seconds) != 0) {
      exit(EXIT_TIMED_OUT);
    }
    for (int i = 0; i < NET_HANDLE_BYTES; i++) theirs[rank][i] = all[options->rank][i];
  }
  connect_all(theirs);
  size_t bytes = 0;
  from = transfer_memory(options, &bytes);
  into = transfer_memory(options, &bytes);
  for (int rank = 0; rank < options->ranks; rank++) {
    struct peer *peer = &peers[rank];
    if (rank == options->rank) continue;
    check(net_register(&net, peer->send_comm, from, bytes, &peer->send_memory), "regMr");
    check(net_register(&net, peer->receive_comm, into, bytes, &peer->receive_memory), "regMr");
  }
}

static void post(int rank) {
  struct peer *peer = &peers[rank];
  while (peer->posted < peer->expected && peer->posted < peer->arrived + (uint64_t)options->depth) {
    void *data = into + transfer_piece(options, rank, peer->posted), *request = NULL;
    size_t size = options->bytes;
    int tag = TAG;
    check(net_irecv(&net, peer->receive_comm, 1, &data, &size, &tag, &peer->receive_memory, &request), "irecv");
    if (request == NULL) return;
    peer->receives[peer->posted++ % (uint64_t)options->depth] = request;
  }
}

static void set_expected(int sender, uint64_t count) {
  peers[sender].expected = count;
  post(sender);
}

static void *send(int to, uint64_t number, bool ordered) {
  (void)ordered; /* ignored: all messages are ordered */
  void *request = NULL;
  check(net_isend(&net, peers[to].send_comm, from + transfer_piece(options, to, number), options->bytes, TAG,
                  peers[to].send_memory, &request),
        "isend");
  return request;
}

static bool is_sent(void *request) {
  int done = 0;
  check(net_test(&net, request, &done, NULL), "test");
  if (done) progress();
  return done;
}

static uint64_t arrived(int sender) {
  struct peer *peer = &peers[sender];
  while (peer->arrived < peer->posted) {
    int done = 0, size = -1;
    check(net_test(&net, peer->receives[peer->arrived % (uint64_t)options->depth], &done, &size), "test");
    if (!done) break;
    peer->arrived++;
    progress();
  }
  post(sender);
  return peer->arrived;
}

static void close(void) {
  for (int rank = 0; rank < options->ranks; rank++) {
    struct peer *peer = &peers[rank];
    if (rank == options->rank) continue;
    check(net_deregister(&net, peer->send_comm, peer->send_memory), "deregMr");
    check(net_deregister(&net, peer->receive_comm, peer->receive_memory), "deregMr");
    check(net_close_send(&net, peer->send_comm), "closeSend");
    check(net_close_receive(&net, peer->receive_comm), "closeRecv");
    check(net_close_listen(&net, peer->listener), "closeListen");
  }
  net_unload(&net);
}

const struct transfer transfer_by_messages = {"messages", open, set_expected, send, is_sent, arrived, close};
