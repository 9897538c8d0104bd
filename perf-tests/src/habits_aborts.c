/*
 * NCCL's abort: one rank closes everything with requests in flight, finalizes, and begins again in the same process.
 * The other rank continues to test for 0.4 s before it closes. Freed memory must not be written.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "habits.h"

enum { REQUESTS = 6, BYTES = 1 << 20, TAKEN_BACK = 0xa5, REMOTE_ERROR = 6, MESSAGES = 40 };
#define LATER_SECONDS 0.4

/* Requests of both directions that an abort leaves in flight. */
struct pending {
  unsigned char *sent, *received;
  void *send_memory, *receive_memory, *requests[2 * REQUESTS];
  int count, failed;
};

static void is_good_or_remote(struct pending *pending, int result, const char *call) {
  WANT(result == 0 || result == REMOTE_ERROR, "%s of a link whose other end aborts: result %d", call, result);
  pending->failed |= result != 0;
}

static void keep(struct pending *pending, void *request) {
  if (request != NULL) pending->requests[pending->count++] = request;
}

static struct pending post_both_directions(const struct link *link) {
  struct pending pending = {.sent = aligned_memory(BYTES), .received = aligned_memory(REQUESTS * BYTES)};
  pending.send_memory = must_register(link->send, pending.sent, BYTES);
  pending.receive_memory = must_register(link->receive, pending.received, REQUESTS * BYTES);
  for (int i = 0; i < REQUESTS && !pending.failed; i++) {
    void *data = pending.received + i * BYTES, *request = NULL;
    size_t size = BYTES;
    int tag = i;
    is_good_or_remote(
        &pending, net_irecv(&net, link->receive, 1, &data, &size, &tag, &pending.receive_memory, &request), "irecv");
    keep(&pending, request);
  }
  for (int i = 0; i < REQUESTS && !pending.failed; i++) {
    void *request = NULL;
    is_good_or_remote(&pending, net_isend(&net, link->send, pending.sent, BYTES, i, pending.send_memory, &request),
                      "isend");
    if (request == NULL) break;
    keep(&pending, request);
  }
  return pending;
}

/*
 * Tests the requests until a call fails or LATER_SECONDS have passed. NCCL's proxy also leaves its loop when a call
 * fails.
 */
static void keep_testing(struct pending *pending) {
  for (double end = now_seconds() + LATER_SECONDS; now_seconds() < end && !pending->failed; sched_yield()) {
    for (int i = 0; i < pending->count && !pending->failed; i++) {
      int done = 0;
      if (pending->requests[i] == NULL) continue;
      is_good_or_remote(pending, net_test(&net, pending->requests[i], &done, NULL), "test");
      if (done) pending->requests[i] = NULL;
    }
  }
  progress();
}

static void drain(struct pending *pending, struct link *link, int listener_first) {
  check(net_deregister(&net, link->send, pending->send_memory), "deregMr");
  check(net_deregister(&net, link->receive, pending->receive_memory), "deregMr");
  memset(pending->received, TAKEN_BACK, REQUESTS * BYTES);
  if (listener_first) {
    check(net_close_listen(&net, link->listen), "closeListen");
    check(net_close_receive(&net, link->receive), "closeRecv");
    check(net_close_send(&net, link->send), "closeSend");
  } else {
    close_link(link);
  }
}

static void check_drained(struct pending *pending) {
  for (size_t i = 0; i < (size_t)REQUESTS * BYTES; i++) {
    WANT(pending->received[i] == TAKEN_BACK, "byte %zu was written after its memory was freed", i);
  }
  free(pending->sent);
  free(pending->received);
}

static void restart_processes(void) {
  net_unload(&net);
  load_plugin();
}

void run_aborts(void) {
  struct link link[HABITS_MOST_RANKS];
  load_plugin();
  for (int round = 0; round < options.rounds; round++) {
    int aborts = options.rank == round % 2, both_begin_again = round / 2 % 2;
    open_links(link);
    struct pending pending = post_both_directions(link);
    if (!aborts) keep_testing(&pending);
    drain(&pending, link, round / 4 % 2);
    if (aborts || both_begin_again) restart_processes();
    open_links(link);
    exchange(link, 1, round, MESSAGES);
    check_drained(&pending);
    barrier();
    close_link(link);
  }
  net_unload(&net);
}
