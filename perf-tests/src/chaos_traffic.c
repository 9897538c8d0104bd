#include "chaos_traffic.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rendezvous.h"
#include "report.h"

#define TAG 3
/* number of receive buffers; up to POSTED of them are posted, and the others are idle and contain canaries */
#define RECEIVES 24
#define POSTED 12
#define SENDS 12
/* after so many passes over all requests without progress, the thread sleeps between passes: a failover takes time */
#define EAGER_PASSES 2000

static const struct chaos_run *run;
static struct net_plugin *net;
static void *listen_comm, *send_comm, *receive_comm;
static struct chaos_buffers receives, sends;
static void *receive_memory, *send_memory;

static struct {
  void *request;
  uint64_t message;
  int busy;
} receiving[RECEIVES], sending[SENDS];

/* Totals of the run. */
static struct chaos_outcome sums;
static uint64_t receives_posted, sends_posted;
/* A special message marks the end of a direction, since only the sender knows the number of messages. */
static int peer_ended, end_posted, end_sent, last_buffer;
static double last_arrival_seconds;

const struct chaos_buffers *chaos_receives(void) { return &receives; }

void chaos_connect(struct net_plugin *plugin, const struct chaos_run *of) {
  char handle[NET_HANDLE_BYTES], other[NET_HANDLE_BYTES];
  net = plugin;
  run = of;
  sums = (struct chaos_outcome){0};
  memset(receiving, 0, sizeof receiving);
  memset(sending, 0, sizeof sending);
  receives_posted = sends_posted = 0;
  peer_ended = end_posted = end_sent = last_buffer = 0;
  listen_comm = send_comm = receive_comm = NULL;
  chaos_allocate(&receives, RECEIVES, run->max_bytes + 64, 1);
  chaos_allocate(&sends, SENDS, run->max_bytes + 64, 0);
  check(net_listen(net, 0, handle, &listen_comm), "listen");
  if (rendezvous_put(run->folder, "handle", run->rank, handle, sizeof handle) != 0) _exit(EXIT_BAD_USAGE);
  if (rendezvous_get(run->folder, "handle", 1 - run->rank, other, sizeof other, run->timeout_seconds) != 0) {
    _exit(EXIT_TIMED_OUT);
  }
  double start = now_seconds();
  while (send_comm == NULL || receive_comm == NULL) {
    if (send_comm == NULL) check(net_connect(net, 0, other, &send_comm), "connect");
    if (receive_comm == NULL) check(net_accept(net, listen_comm, &receive_comm), "accept");
    if (now_seconds() - start > run->timeout_seconds) fail_with(EXIT_TIMED_OUT, "no connection in time");
    usleep(200);
  }
  check(net_register(net, receive_comm, receives.memory, receives.bytes, &receive_memory), "regMr");
  check(net_register(net, send_comm, sends.memory, sends.bytes, &send_memory), "regMr");
}

/* Returns whether a call succeeded. Records the first failed call, which ends its direction. */
static int succeeded(struct chaos_side *side, int result, const char *call) {
  if (result == 0) return 1;
  if (side->failed == NULL) {
    side->failed = call;
    side->result = result;
    side->failed_at = now_seconds();
    progress();
  }
  return 0;
}

static int is_over(const struct chaos_side *side) { return side->complete || side->failed != NULL; }

static int idle_buffer(void) {
  /* Takes the buffers in turn, so that a returned buffer stays idle as long as possible. */
  for (int i = 1; i <= RECEIVES; i++) {
    int buffer = (last_buffer + i) % RECEIVES;
    if (!receiving[buffer].busy) return last_buffer = buffer;
  }
  return -1;
}

static int post_receive(void) {
  if (peer_ended || receives_posted - sums.received >= POSTED) return 0;
  int buffer = idle_buffer(), tag = TAG;
  void *data = chaos_data(&receives, buffer), *request = NULL;
  /* The receive is as large as the message, and sometimes larger; NCCL, too, posts the largest size that may arrive. */
  size_t size = chaos_size(run->seed, 1 - run->rank, receives_posted, run->max_bytes) + 64;
  if (size > run->max_bytes + 64) size = run->max_bytes + 64;
  chaos_check_rest(&receives, buffer);
  int result = net_irecv(net, receive_comm, 1, &data, &size, &tag, &receive_memory, &request);
  if (!succeeded(&sums.receive, result, "irecv") || request == NULL) return 0;
  receiving[buffer].request = request;
  receiving[buffer].message = receives_posted++;
  receiving[buffer].busy = 1;
  return 1;
}

static int is_time_over(double end) {
  return now_seconds() >= end || (run->until != NULL && access(run->until, F_OK) == 0);
}

static int post_send(double end) {
  if (end_posted || sends_posted - sums.sent >= SENDS) return 0;
  int buffer = (int)(sends_posted % SENDS), ends = is_time_over(end);
  if (sending[buffer].busy) return 0;
  size_t size = ends ? CHAOS_END_BYTES : chaos_size(run->seed, run->rank, sends_posted, run->max_bytes);
  void *data = chaos_data(&sends, buffer), *request = NULL;
  if (ends)
    chaos_fill_end(data);
  else
    chaos_fill(data, size, run->seed, run->rank, sends_posted);
  if (run->spoils && !ends && size > 0 && sends_posted % 2 == 0) ((unsigned char *)data)[size / 2] ^= 1;
  int result = net_isend(net, send_comm, data, size, TAG, send_memory, &request);
  if (!succeeded(&sums.send, result, "isend") || request == NULL) return 0;
  sending[buffer].request = request;
  sending[buffer].message = sends_posted++;
  sending[buffer].busy = 1;
  end_posted = ends;
  return 1;
}

static void arrived(int buffer, int size) {
  chaos_check_guards(&receives, buffer);
  if (chaos_is_end(chaos_data(&receives, buffer), size)) {
    peer_ended = 1;
  } else if (!peer_ended) {
    chaos_check(&receives, buffer, size, run->seed, 1 - run->rank, receiving[buffer].message, run->max_bytes);
  }
  chaos_rest(&receives, buffer, receiving[buffer].message);
  double now = now_seconds(), gap = now - last_arrival_seconds;
  if (sums.received > 0 && gap > sums.longest_gap_seconds) sums.longest_gap_seconds = gap;
  last_arrival_seconds = now;
  sums.received++;
  sums.bytes += (uint64_t)size;
  progress();
}

static int test_receives(void) {
  int moved = 0;
  for (int i = 0; i < RECEIVES; i++) {
    int done = 0, size = -1;
    if (!receiving[i].busy) continue;
    if (!succeeded(&sums.receive, net_test(net, receiving[i].request, &done, &size), "test")) break;
    if (!done) continue;
    receiving[i].busy = 0;
    arrived(i, size);
    moved = 1;
  }
  sums.receive.complete = peer_ended;
  return moved;
}

static int test_sends(void) {
  int moved = 0;
  for (int i = 0; i < SENDS; i++) {
    int done = 0;
    if (!sending[i].busy) continue;
    if (!succeeded(&sums.send, net_test(net, sending[i].request, &done, NULL), "test")) break;
    if (!done) continue;
    sending[i].busy = 0;
    chaos_spoil(&sends, i);
    if (end_posted && sending[i].message == sends_posted - 1) end_sent = 1;
    sums.sent++;
    progress();
    moved = 1;
  }
  sums.send.complete = end_sent && sums.sent == sends_posted;
  return moved;
}

void chaos_move(struct chaos_outcome *outcome) {
  double end = now_seconds() + run->seconds;
  int idle = 0;
  while (!is_over(&sums.send) || !is_over(&sums.receive)) {
    int moved = 0;
    if (!is_over(&sums.receive)) moved |= post_receive();
    if (!is_over(&sums.send)) moved |= post_send(end);
    if (!is_over(&sums.receive)) moved |= test_receives();
    if (!is_over(&sums.send)) moved |= test_sends();
    idle = moved ? 0 : idle + 1;
    if (idle > EAGER_PASSES)
      usleep(100);
    else if (idle > 0)
      sched_yield();
  }
  *outcome = sums;
}

void chaos_close(void) {
  check(net_deregister(net, receive_comm, receive_memory), "deregMr");
  check(net_deregister(net, send_comm, send_memory), "deregMr");
  check(net_close_send(net, send_comm), "closeSend");
  check(net_close_receive(net, receive_comm), "closeRecv");
  check(net_close_listen(net, listen_comm), "closeListen");
  /* After the communicators are closed, the plugin owns none of the buffers. */
  for (int i = 0; i < RECEIVES; i++) {
    if (receiving[i].busy) chaos_rest(&receives, i, receiving[i].message);
    receiving[i].busy = 0;
  }
}

void chaos_check_all(void) {
  for (int i = 0; i < RECEIVES; i++) {
    if (!receiving[i].busy) chaos_check_rest(&receives, i);
    chaos_check_guards(&receives, i);
  }
}

void chaos_free(void) {
  chaos_release(&receives);
  chaos_release(&sends);
}
