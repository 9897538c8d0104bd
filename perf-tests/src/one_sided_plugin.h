/*
 * A plugin's one-sided table, of version 13 or 14 and under either name. The calls below have the form of version 14
 * and work for all tables.
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
 * Loads the plugin as NCCL does, looks up the table (`symbol` NULL: the newest), initialises it and counts its devices.
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
/*
 * Waits until all ranks have called this with the same name. Calls the plugin's progress meanwhile, because other ranks
 * may need it.
 */
void one_sided_barrier(const struct one_sided *, const struct one_sided_meeting *, const char *name);
/* Returns whether the request is done, and frees a finished request. A failed call ends the process. */
int one_sided_is_done(const struct one_sided *, void *request);
void one_sided_progress(const struct one_sided *);
/*
 * Maps memory and registers it. Memory that stands for GPU memory is registered at an address that isn't mapped in this
 * process, so the plugin can access it only by its dma-buf, a memfd. A failure ends the process. Returns the address at
 * which this program accesses the memory.
 */
void *one_sided_memory(const struct one_sided *, size_t bytes, uint64_t flags, void **handle);

#endif
