/*
 * A plugin's one-sided table, of version 13 or 14 and under either name. All tables have the same set of calls here,
 * that of version 14.
 */
#ifndef HEDDLE_ONE_SIDED_PLUGIN_H
#define HEDDLE_ONE_SIDED_PLUGIN_H

#include <stdbool.h>

#include "one_sided_abi.h"

struct one_sided {
  const char *symbol; /* name of the table */
  struct nccl_rma_v14 calls;
  void *context;
  int devices;
  void *group, *contexts; /* set once the group is connected */
  bool on_devices;        /* whether memory is registered as GPU memory */
};

/*
 * Loads the plugin as NCCL does, looks up the table (NULL: the newest), initialises it and counts its devices.
 * log_prefix precedes the plugin's log lines on standard error; NULL prints warnings only. Returns 0, or an
 * ncclResult_t after a message on standard error.
 */
int one_sided_load(struct one_sided *, const char *path, const char *symbol, const char *log_prefix);

enum { ONE_SIDED_MOST_RANKS = 64 };

/* Parameters of the processes' rendezvous. */
struct one_sided_meeting {
  const char *folder; /* folder of the rendezvous (rendezvous.h) */
  int rank, ranks;
  double timeout_seconds;
};

/* Creates a group of all ranks and a block of contexts. A failure ends the process. */
void one_sided_connect(struct one_sided *, const struct one_sided_meeting *, int contexts);
/* Waits until all ranks have reached this name. Makes progress meanwhile, since other ranks may need it. */
void one_sided_barrier(const struct one_sided *, const struct one_sided_meeting *, const char *name);
/* Returns whether the request is done, and frees a finished request. A failed call ends the process. */
int one_sided_is_done(const struct one_sided *, void *request);
void one_sided_progress(const struct one_sided *);
/*
 * Maps memory and registers it. GPU memory has another address for the plugin, which isn't mapped in this process: only
 * the dma-buf, a memfd, gives access to it. A failure ends the process. Returns this process's address.
 */
void *one_sided_memory(const struct one_sided *, size_t bytes, uint64_t flags, void **handle);

#endif
