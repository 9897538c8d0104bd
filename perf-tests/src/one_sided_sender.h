/* Starts the operations of a lane from this rank, and tells the sources of lanes to it what its checker has seen. */
#ifndef HEDDLE_ONE_SIDED_SENDER_H
#define HEDDLE_ONE_SIDED_SENDER_H

#include <stdbool.h>

#include "one_sided_lanes.h"
#include "one_sided_plugin.h"

/* A lane from this rank. */
struct sending {
  uint64_t next, tested;
  uint64_t signalled; /* by strong signals that were started */
  void *requests[PLACES];
  uint64_t acknowledged; /* of the lane to this rank: how many checked operations its source was told of */
  void *word;            /* a signal alone that is under way */
  bool told;             /* the target knows how many operations there were */
};

struct sender {
  const struct one_sided *plugin;
  struct lanes *lanes;
  struct sending *sendings; /* by lane */
  void *words_memory, *incoming_memory, *outgoing_memory;
  const char *failed; /* the first call that did; nothing is started after it */
  int result;
};

/* Memory for the lanes and their registrations. Ends the process where that can't be. */
void sender_register(struct sender *, const struct one_sided *, struct lanes *);
void sender_deregister(const struct sender *);
/* Gives the memory back, once the group is closed. */
void sender_free(struct sender *);

/* Whether a call went well; the first that didn't ends all. */
bool sender_went_well(struct sender *, int result, const char *call);

/* Moves a lane on; `ends`: no more operations are begun. Returns whether it is through, here and at the target. */
bool sender_drive(struct sender *, int peer, int context, bool ends);

#endif
