/*
 * Loader of ncclNet plugins of version 6 to 12, which loads them as NCCL does. The calls below have the form of version
 * 12 and work for all versions.
 */
#ifndef HEDDLE_NET_PLUGIN_H
#define HEDDLE_NET_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "nccl_abi.h"

#define NET_HANDLE_BYTES 128
#define NET_MAX_RECEIVES 8

struct net_plugin {
  const char *name;
  int version;
  int devices;
  void *library;
  const void *table;
  void *context;
  double start_seconds; /* from dlopen to the count of devices */
  long start_kib;       /* growth of the process's resident memory from dlopen to the count of devices */
};

/*
 * Loads the newest version that the library exports (or just `version` if it isn't 0), initialises it and counts its
 * devices. log_prefix precedes each of the plugin's log lines on standard error; NULL prints warnings only. Returns
 * 0, or an ncclResult_t after a message on standard error.
 */
int net_load(struct net_plugin *, const char *path, int version, const char *log_prefix);

/*
 * Returns a logger with this prefix, like the one that net_load passes to a plugin. For plugins that are loaded in
 * another way.
 */
nccl_logger net_logger(const char *log_prefix);

/* From now on, also logs the plugin's trace lines, and prints the monotonic time before each line. */
void net_trace(void);

/* Finalizes the plugin and closes its library. */
void net_unload(struct net_plugin *);

/* Returns the resident memory of this process in KiB. */
long net_resident_kib(void);

/*
 * Returns the number of the plugin's warnings since the first call that contain this text. All calls in a process must
 * use the same text.
 */
unsigned net_lines_with(const char *words);

int net_max_receives(struct net_plugin *, int device);

int net_listen(struct net_plugin *, int device, void *handle, void **listen_comm);
int net_connect(struct net_plugin *, int device, void *handle, void **comm);
int net_accept(struct net_plugin *, void *listen_comm, void **comm);
int net_register(struct net_plugin *, void *comm, void *data, size_t size, void **memory);
/* Returns the kinds of memory that a device registers: 1 host, 2 CUDA, 4 dma-buf; 0 if the call fails. */
int net_pointer_support(struct net_plugin *, int device);
/* Registers GPU memory by its dma-buf. */
int net_register_dma_buf(struct net_plugin *, void *comm, void *data, size_t size, uint64_t offset, int file,
                         void **memory);
int net_deregister(struct net_plugin *, void *comm, void *memory);
int net_isend(struct net_plugin *, void *comm, void *data, size_t size, int tag, void *memory, void **request);
int net_irecv(struct net_plugin *, void *comm, int n, void **data, size_t *sizes, int *tags, void **memory,
              void **request);
int net_iflush(struct net_plugin *, void *comm, int n, void **data, int *sizes, void **memory, void **request);
int net_test(struct net_plugin *, void *request, int *done, int *sizes);
int net_close_send(struct net_plugin *, void *comm);
int net_close_receive(struct net_plugin *, void *comm);
int net_close_listen(struct net_plugin *, void *comm);

#endif
