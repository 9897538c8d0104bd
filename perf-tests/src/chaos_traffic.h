/* One run of the soak's random messages over new communicators, in both directions. */
#ifndef HEDDLE_CHAOS_TRAFFIC_H
#define HEDDLE_CHAOS_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

#include "chaos_buffers.h"
#include "chaos_orders.h"
#include "net_plugin.h"

struct chaos_run {
  const char *folder; /* folder of the two ranks' rendezvous; empty before the run */
  int rank, spoils;
  uint64_t seed;
  double seconds;         /* time in which new messages are started */
  const char *until;      /* no more are started once this file exists; or NULL */
  double timeout_seconds; /* of the connecting */
  size_t max_bytes;
};

struct chaos_outcome {
  struct chaos_side send, receive;
  uint64_t sent, received, bytes;
  double longest_gap_seconds; /* between two arrivals */
};

/* Connects both directions; a failure ends the process. */
void chaos_connect(struct net_plugin *, const struct chaos_run *);

/* Moves messages until each direction is complete or has failed. A failure of one doesn't end the other. */
void chaos_move(struct chaos_outcome *);

/* Closes everything. Later writes to buffers are detected. */
void chaos_close(void);

/* Wrong bytes of messages, guards and idle buffers so far; of this run, and valid until the next. */
const struct chaos_buffers *chaos_receives(void);

/* Checks all guards and canaries once more, then frees the memory. */
void chaos_check_all(void);
void chaos_free(void);

#endif
