/* A plugin's one-sided table, of version 13 or 14 and whichever name, behind one set of calls: those of version 14. */
#ifndef HEDDLE_ONE_SIDED_PLUGIN_H
#define HEDDLE_ONE_SIDED_PLUGIN_H

#include <stdbool.h>

#include "one_sided_abi.h"

struct one_sided {
  const char *symbol; /* which table it is */
  struct nccl_rma_v14 calls;
  void *context;
  int devices;
  void *group, *contexts; /* once it is connected */
  bool on_devices;        /* whether memory is registered as a GPU's */
};

/*
 * Loads the plugin as NCCL does, takes the table (NULL: the newest), initialises it and counts its devices. log_prefix
 * stands before the plugin's log lines on standard error; NULL keeps it silent but for warnings. Returns 0, or an
 * ncclResult_t after it said on standard error what is wrong.
 */
int one_sided_load(struct one_sided *, const char *path, const char *symbol, const char *log_prefix);

enum { ONE_SIDED_MOST_RANKS = 64 };

/* How a process finds the others. */
struct one_sided_meeting {
  const char *folder; /* as rendezvous.h has it */
  int rank, ranks;
  double timeout_seconds;
};

/* Makes a group of all ranks and a block of contexts. Ends the process where that can't be. */
void one_sided_connect(struct one_sided *, const struct one_sided_meeting *, int contexts);
/* Waits until all ranks have come to this name, and makes progress meanwhile, since others may need it. */
void one_sided_barrier(const struct one_sided *, const struct one_sided_meeting *, const char *name);
/* Whether the request is done, and gone with that. Ends the process where the call fails. */
int one_sided_is_done(const struct one_sided *, void *request);
void one_sided_progress(const struct one_sided *);
/*
 * Maps memory and registers it. As a GPU's it has another address for the plugin, at which this process has nothing: only
 * its dma-buf, a memfd, leads there. Ends the process where that can't be. Returns where this process sees it.
 */
void *one_sided_memory(const struct one_sided *, size_t bytes, uint64_t flags, void **handle);

#endif
