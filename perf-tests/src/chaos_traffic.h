/* One run of the soak's random messages over new communicators, in both directions. */
#ifndef HEDDLE_CHAOS_TRAFFIC_H
#define HEDDLE_CHAOS_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

#include "chaos_buffers.h"
#include "chaos_orders.h"
#include "net_plugin.h"

struct chaos_run {
  const char *folder; /* folder for the rendezvous of the two ranks; must be empty before the run */
  int rank, spoils;
  uint64_t seed;
  double seconds;         /* time in which the run starts new messages */
  const char *until;      /* the run starts no new messages once this file exists; may be NULL */
  double timeout_seconds; /* time limit for connecting */
  size_t max_bytes;
};

struct chaos_outcome {
  struct chaos_side send, receive;
  uint64_t sent, received, bytes;
  double longest_gap_seconds; /* longest time between two arrivals */
};

/* Connects both directions; a failure ends the process. */
void chaos_connect(struct net_plugin *, const struct chaos_run *);

/*
 * Sends and receives until each direction is complete or has failed. A failure of one direction doesn't end the other.
 */
void chaos_move(struct chaos_outcome *);

/* Closes the communicators. The buffers stay, so that chaos_check_all detects later writes to them. */
void chaos_close(void);

/* Returns the receive buffers of this run, which contain the counts of wrong bytes so far. Valid until the next run. */
const struct chaos_buffers *chaos_receives(void);

/* Checks all guards and canaries once more, then frees the memory. */
void chaos_check_all(void);
void chaos_free(void);

#endif
