/* Starts the operations of lanes from this rank, and reports its checker's progress to the sources of lanes to it. */
#ifndef HEDDLE_ONE_SIDED_SENDER_H
#define HEDDLE_ONE_SIDED_SENDER_H

#include <stdbool.h>

#include "one_sided_lanes.h"
#include "one_sided_plugin.h"

/* A lane from this rank. */
struct sending {
  uint64_t next, tested;
  uint64_t signalled; /* by started strong signals */
  void *requests[PLACES];
  uint64_t acknowledged; /* of the lane to this rank: checked operations reported to its source */
  void *word;            /* a signal without data in flight */
  bool knows_total;      /* the target knows the number of operations */
};

struct sender {
  const struct one_sided *plugin;
  struct lanes *lanes;
  struct sending *sendings; /* by lane */
  void *words_memory, *incoming_memory, *outgoing_memory;
  const char *failed; /* the first failed call; nothing is started after it */
  int result;
};

/* Allocates the lanes' memory and registers it. A failure ends the process. */
void sender_register(struct sender *, const struct one_sided *, struct lanes *);
void sender_deregister(const struct sender *);
/* Frees the memory, once the group is closed. */
void sender_free(struct sender *);

/* Returns whether a call succeeded; after the first failure no more operations start. */
bool sender_went_well(struct sender *, int result, const char *call);

/* Advances a lane; `ends`: no more operations are started. Returns whether it is finished, here and at the target. */
bool sender_drive(struct sender *, int peer, int context, bool ends);

#endif
