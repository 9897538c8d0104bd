/*
 * One ring of an all-reduce of floats, which transfers one device's part of the buffer. The ring advances in steps, so
 * that one thread can serve the rings of many devices, as NCCL's progress thread does.
 */
#ifndef HEDDLE_RING_H
#define HEDDLE_RING_H

#include <stddef.h>

#include "net_plugin.h"

#define SLICE_BYTES (512 * 1024)
#define SLICE_FLOATS (SLICE_BYTES / sizeof(float))
#define OUTSTANDING 8

/* Buffers that all rings of a rank share. */
struct ring_buffers {
  float *input, *output;
  size_t bytes;
};

struct ring {
  struct net_plugin *net;
  int rank, ranks, device;
  const struct ring_buffers *buffers;
  float *landing; /* OUTSTANDING slices for received data that is still to be added */
  void *listen_comm, *send_comm, *receive_comm;
  void *input_memory_send, *output_memory_send, *output_memory_receive, *landing_memory;
  /* state of the current all-reduce */
  size_t first, count, slices, operations, receives_posted, received, sends_posted, sent;
  void *receive_requests[OUTSTANDING], *send_requests[OUTSTANDING];
};

/* Listens, connects to the next rank, accepts from the previous rank, and registers the buffers. */
void ring_connect(struct ring *ring, const char *folder, double timeout_seconds);
void ring_close(struct ring *ring);

/* Starts an all-reduce of `count` floats, from index `first` on, from input to output. */
void ring_begin(struct ring *ring, size_t first, size_t count);
int ring_is_done(const struct ring *ring);
/* Posts and tests as much as possible. Returns whether there was progress. */
int ring_step(struct ring *ring);

#endif
