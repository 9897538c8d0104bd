#include "ring.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "completions.h"
#include "rendezvous.h"
#include "report.h"

#define TAG 7

void ring_connect(struct ring *ring, const char *folder, double timeout_seconds) {
  struct net_plugin *net = ring->net;
  char handle[NET_HANDLE_BYTES], next_handle[NET_HANDLE_BYTES], name[32] = "handle";
  if (ring->device != 0) snprintf(name, sizeof name, "handle-of-device-%d", ring->device);
  check(net_listen(net, ring->device, handle, &ring->listen_comm), "listen");
  if (rendezvous_put(folder, name, ring->rank, handle, sizeof handle) != 0) _exit(EXIT_BAD_USAGE);
  int next = (ring->rank + 1) % ring->ranks;
  if (rendezvous_get(folder, name, next, next_handle, sizeof next_handle, timeout_seconds) != 0) _exit(EXIT_TIMED_OUT);
  double start = now_seconds();
  while (ring->send_comm == NULL || ring->receive_comm == NULL) {
    if (ring->send_comm == NULL) check(net_connect(net, ring->device, next_handle, &ring->send_comm), "connect");
    if (ring->receive_comm == NULL) check(net_accept(net, ring->listen_comm, &ring->receive_comm), "accept");
    if (now_seconds() - start > timeout_seconds) fail_with(EXIT_TIMED_OUT, "no connection in time");
    usleep(100);
  }
  progress();
  const struct ring_buffers *buffers = ring->buffers;
  check(net_register(net, ring->send_comm, buffers->input, buffers->bytes, &ring->input_memory_send), "regMr");
  check(net_register(net, ring->send_comm, buffers->output, buffers->bytes, &ring->output_memory_send), "regMr");
  check(net_register(net, ring->receive_comm, buffers->output, buffers->bytes, &ring->output_memory_receive), "regMr");
  check(net_register(net, ring->receive_comm, ring->landing, OUTSTANDING * SLICE_BYTES, &ring->landing_memory),
        "regMr");
}

void ring_close(struct ring *ring) {
  struct net_plugin *net = ring->net;
  check(net_deregister(net, ring->send_comm, ring->input_memory_send), "deregMr");
  check(net_deregister(net, ring->send_comm, ring->output_memory_send), "deregMr");
  check(net_deregister(net, ring->receive_comm, ring->output_memory_receive), "deregMr");
  check(net_deregister(net, ring->receive_comm, ring->landing_memory), "deregMr");
  check(net_close_send(net, ring->send_comm), "closeSend");
  check(net_close_receive(net, ring->receive_comm), "closeRecv");
  check(net_close_listen(net, ring->listen_comm), "closeListen");
}

/*
 * Begins an all-reduce. Operation o of each direction is slice o % slices of ring step o / slices. Steps below ranks -
 * 1 reduce, the others gather. A step sends the slice that the previous step received, so sends follow receives slice
 * by slice.
 */
void ring_begin(struct ring *ring, size_t first, size_t count) {
  size_t longest = (count + (size_t)ring->ranks - 1) / (size_t)ring->ranks;
  ring->first = first;
  ring->count = count;
  ring->slices = longest == 0 ? 1 : (longest + SLICE_FLOATS - 1) / SLICE_FLOATS;
  ring->operations = ring->slices * 2 * (size_t)(ring->ranks - 1);
  ring->receives_posted = ring->received = ring->sends_posted = ring->sent = 0;
}

int ring_is_done(const struct ring *ring) {
  return ring->received == ring->operations && ring->sent == ring->operations;
}

struct range {
  size_t start, floats;
};

/* Returns the range of floats that an operation transfers. `behind`: 1 for a receive, 0 for a send. */
static struct range range_of(const struct ring *ring, size_t operation, int behind) {
  size_t ranks = (size_t)ring->ranks, slice = operation % ring->slices;
  int step = (int)(operation / ring->slices);
  size_t segment = (size_t)(((ring->rank - step - behind) % ring->ranks + 2 * ring->ranks) % ring->ranks);
  size_t start = ring->count * segment / ranks, end = ring->count * (segment + 1) / ranks;
  struct range range = {start + slice * SLICE_FLOATS, 0};
  if (range.start < end) range.floats = end - range.start < SLICE_FLOATS ? end - range.start : SLICE_FLOATS;
  range.start += ring->first;
  return range;
}

static int reduces(const struct ring *ring, size_t operation) {
  return operation / ring->slices < (size_t)(ring->ranks - 1);
}

static float *landing_of(const struct ring *ring, size_t operation) {
  return ring->landing + operation % OUTSTANDING * SLICE_FLOATS;
}

static void post_receives(struct ring *ring) {
  while (ring->receives_posted < ring->operations && ring->receives_posted < ring->received + OUTSTANDING) {
    struct range range = range_of(ring, ring->receives_posted, 1);
    int sums = reduces(ring, ring->receives_posted), tag = TAG;
    void *data = sums ? landing_of(ring, ring->receives_posted) : ring->buffers->output + range.start;
    void *memory = sums ? ring->landing_memory : ring->output_memory_receive;
    size_t size = range.floats * sizeof(float);
    void **request = &ring->receive_requests[ring->receives_posted % OUTSTANDING];
    *request = NULL;
    check(net_irecv(ring->net, ring->receive_comm, 1, &data, &size, &tag, &memory, request), "irecv");
    if (*request == NULL) return;
    ring->receives_posted++;
  }
}

static void post_sends(struct ring *ring) {
  while (ring->sends_posted < ring->operations && ring->sends_posted < ring->sent + OUTSTANDING &&
         (ring->sends_posted < ring->slices || ring->received > ring->sends_posted - ring->slices)) {
    struct range range = range_of(ring, ring->sends_posted, 0);
    int first = ring->sends_posted < ring->slices;
    void **request = &ring->send_requests[ring->sends_posted % OUTSTANDING];
    *request = NULL;
    check(net_isend(ring->net, ring->send_comm, (first ? ring->buffers->input : ring->buffers->output) + range.start,
                    range.floats * sizeof(float), TAG, first ? ring->input_memory_send : ring->output_memory_send,
                    request),
          "isend");
    if (*request == NULL) return;
    ring->sends_posted++;
  }
}

static void finish_receive(struct ring *ring, int size) {
  struct range range = range_of(ring, ring->received, 1);
  if ((size_t)size != range.floats * sizeof(float)) {
    fail_with(EXIT_WRONG_DATA, "a receive reports %d bytes, %zu were sent", size, range.floats * sizeof(float));
  }
  if (reduces(ring, ring->received)) {
    const float *arrived = landing_of(ring, ring->received), *input = ring->buffers->input + range.start;
    float *output = ring->buffers->output + range.start;
    for (size_t i = 0; i < range.floats; i++) output[i] = input[i] + arrived[i];
  }
  ring->received++;
  progress();
}

int ring_step(struct ring *ring) {
  size_t before = ring->receives_posted + ring->sends_posted + ring->received + ring->sent;
  int done = 0, size = -1;
  post_receives(ring);
  post_sends(ring);
  if (ring->received < ring->receives_posted) {
    check(net_test(ring->net, ring->receive_requests[ring->received % OUTSTANDING], &done, &size), "test");
    if (done) finish_receive(ring, size);
  }
  if (ring->sent < ring->sends_posted) {
    check(net_test(ring->net, ring->send_requests[ring->sent % OUTSTANDING], &done, NULL), "test");
    if (done) {
      completed(range_of(ring, ring->sent, 0).floats * sizeof(float));
      ring->sent++;
      progress();
    }
  }
  return ring->receives_posted + ring->sends_posted + ring->received + ring->sent != before;
}
