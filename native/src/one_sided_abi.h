/*
 * The binary interface of NCCL's one-sided plugins (RMA, and GIN by a proxy), declared anew for the plugin. Version 13
 * is the same for RMA and GIN.
 */
#ifndef HEDDLE_ONE_SIDED_ABI_H
#define HEDDLE_ONE_SIDED_ABI_H

#include <stdbool.h>

#include "nccl_abi.h"

enum { NCCL_NET_DEVICE_GIN_PROXY = 2 };

enum { NCCL_SIGNAL_INCREMENT = 1, NCCL_SIGNAL_ADD = 2 };

struct nccl_gin_config_v13 {
  int signals;
  int counters;
  int contexts;
  int queue_depth;
  int traffic_class;
};

struct nccl_rma_config_v14 {
  int contexts;
  int traffic_class;
  int rank_stride;
};

struct nccl_device_handle {
  int type;
  int version;
  void *handle;
  size_t size;
  int needs_proxy_progress;
};

typedef int nccl_put_v13(void *contexts, int context, uint64_t local_offset, void *local, size_t size,
                         uint64_t remote_offset, void *remote, uint32_t rank, void **request);
typedef int nccl_get_v13(void *contexts, int context, uint64_t remote_offset, void *remote, size_t size,
                         uint64_t local_offset, void *local, uint32_t rank, void **request);
typedef int nccl_put_signal_v13(void *contexts, int context, uint64_t local_offset, void *local, size_t size,
                                uint64_t remote_offset, void *remote, uint32_t rank, uint64_t signal_offset,
                                void *signal, uint64_t value, uint32_t operation, void **request);
typedef int nccl_put_signal_v14(void *contexts, int context, uint64_t local_offset, void *local, size_t size,
                                uint64_t remote_offset, void *remote, uint32_t rank, uint64_t signal_offset,
                                void *signal, uint64_t value, uint32_t operation, bool strong, void **request);

struct nccl_gin_v13 {
  const char *name;
  int (*init)(void **context, uint64_t comm_id, nccl_logger logger);
  int (*devices)(int *count);
  int (*get_properties)(int device, struct nccl_properties_v12 *properties);
  int (*listen)(void *context, int device, void *handle, void **listener);
  int (*connect)(void *context, void *handles[], int ranks, int rank, void *listener, void **comm);
  int (*create_contexts)(void *comm, struct nccl_gin_config_v13 *config, void **contexts,
                         struct nccl_device_handle **device);
  int (*reg)(void *comm, void *data, size_t size, int type, uint64_t flags, void **handle, void **device_handle);
  int (*reg_dma_buf)(void *comm, void *data, size_t size, int type, uint64_t offset, int fd, uint64_t flags,
                     void **handle, void **device_handle);
  int (*dereg)(void *comm, void *handle);
  int (*destroy_contexts)(void *contexts);
  int (*close)(void *comm);
  int (*close_listen)(void *listener);
  nccl_put_v13 *put;
  nccl_put_signal_v13 *put_signal;
  nccl_get_v13 *get;
  int (*flush)(void *contexts, int context, void *handle, uint32_t rank, void **request);
  int (*test)(void *comm, void *request, int *done);
  int (*progress)(void *contexts);
  int (*last_error)(void *contexts, bool *failed);
  int (*finalize)(void *context);
};

struct nccl_rma_v14 {
  const char *name;
  int (*init)(void **context, uint64_t comm_id, nccl_logger logger);
  int (*devices)(int *count);
  int (*get_properties)(int device, struct nccl_properties_v12 *properties);
  int (*listen)(void *context, int device, void *handle, void **listener);
  int (*connect)(void *context, void *handles[], int ranks, int rank, void *listener, void **comm);
  int (*create_contexts)(void *comm, struct nccl_rma_config_v14 *config, void **contexts);
  int (*reg)(void *comm, void *data, size_t size, int type, uint64_t flags, void **handle);
  int (*reg_dma_buf)(void *comm, void *data, size_t size, int type, uint64_t offset, int fd, uint64_t flags,
                     void **handle);
  int (*dereg)(void *comm, void *handle);
  int (*destroy_contexts)(void *contexts);
  int (*close)(void *comm);
  int (*close_listen)(void *listener);
  nccl_put_v13 *put;
  nccl_put_signal_v14 *put_signal;
  nccl_get_v13 *get;
  int (*flush)(void *contexts, int context, void *handle, uint32_t rank, void **request);
  int (*test)(void *comm, void *request, int *done);
  int (*progress)(void *contexts);
  int (*last_error)(void *contexts, bool *failed);
  int (*finalize)(void *context);
};

_Static_assert(sizeof(struct nccl_gin_v13) == 168, "the layout of ncclGin_v13");
_Static_assert(sizeof(struct nccl_rma_v14) == 168, "the layout of ncclRma_v14");
_Static_assert(sizeof(struct nccl_gin_config_v13) == 20 && sizeof(struct nccl_rma_config_v14) == 12,
               "the layouts of their configurations");
_Static_assert(sizeof(struct nccl_device_handle) == 32, "the layout of ncclNetDeviceHandle_v11");

#endif
