/*
 * Sender, which starts this rank's operations at other ranks. It also reports to the other ranks how many of their
 * operations the checker has verified.
 */
#ifndef HEDDLE_ONE_SIDED_SENDER_H
#define HEDDLE_ONE_SIDED_SENDER_H

#include <stdbool.h>

#include "one_sided_plugin.h"
#include "one_sided_streams.h"

/* State of the operations from this rank to one rank in one context (a stream). */
struct sending {
  uint64_t next, tested;
  uint64_t signalled; /* number of operations that the strong signals started so far cover */
  void *requests[PLACES];
  uint64_t acknowledged; /* number of checked operations in the opposite direction that were reported to their source */
  void *word;            /* request of the signal without data that is in flight, or NULL */
  bool knows_total;      /* whether the target knows the number of operations */
};

struct sender {
  const struct one_sided *plugin;
  struct streams *streams;
  struct sending *sendings; /* indexed by stream_of() */
  void *words_memory, *incoming_memory, *outgoing_memory;
  const char *failed; /* the first failed call; no operation starts after it */
  int result;
};

/* Allocates the memory of all operations and signal words, and registers it. A failure ends the process. */
void sender_register(struct sender *, const struct one_sided *, struct streams *);
void sender_deregister(const struct sender *);
/* Frees the memory. Called after the group is closed. */
void sender_free(struct sender *);

/* Returns whether a call succeeded. No operation starts after the first failure. */
bool sender_check(struct sender *, int result, const char *call);

/*
 * Advances the operations to a peer in one context. `ends`: whether to start no more. Returns whether all are finished,
 * here and at the target.
 */
bool sender_drive(struct sender *, int peer, int context, bool ends);

#endif
