/* A plugin's one-sided table, of version 13 or 14 and whichever name, behind one set of calls: those of version 14. */
#ifndef HEDDLE_ONE_SIDED_PLUGIN_H
#define HEDDLE_ONE_SIDED_PLUGIN_H

#include "one_sided_abi.h"

struct one_sided {
  const char *symbol; /* which table it is */
  struct nccl_rma_v14 calls;
  void *context;
  int devices;
};

/*
 * Loads the plugin as NCCL does, takes the table (NULL: the newest), initialises it and counts its devices. log_prefix
 * stands before the plugin's log lines on standard error; NULL keeps it silent but for warnings. Returns 0, or an
 * ncclResult_t after it said on standard error what is wrong.
 */
int one_sided_load(struct one_sided *, const char *path, const char *symbol, const char *log_prefix);

#endif
