#include <stdlib.h>
#include <string.h>

#include "shim.h"

/* A block of a group's contexts, which NCCL creates in one call. */
struct heddle_contexts {
  struct heddle_comm *comm;
  int first; /* number of the block's first context in the group */
  int count;
};

enum { HOST_MEMORY = 1 };

/* A handle is a registration's number plus one, since handle 0 means that there is none. */
static int64_t number_of(const void *handle) { return as_int(handle) - 1; }

int heddle_group_init(void **context, uint64_t comm_id, nccl_logger logger) {
  heddle_log_to(logger);
  const char *wanted = getenv("HEDDLE_ONE_SIDED");
  if (wanted == NULL || strcmp(wanted, "1") != 0) {
    heddle_log(NCCL_LOG_INFO, "one-sided operations are disabled; HEDDLE_ONE_SIDED=1 enables them");
    return NCCL_INVALID_USAGE;
  }
  return heddle_init(12, comm_id, -1, logger, context);
}

int heddle_group_get_properties(int device, struct nccl_properties_v12 *properties) {
  int result = heddle_get_properties_v12(device, properties);
  if (result == NCCL_SUCCESS) {
    properties->net_device_type = NCCL_NET_DEVICE_GIN_PROXY;
  }
  return result;
}

int heddle_group_listen(void *context, int device, void *handle, void **listener) {
  (void)context;
  *listener = NULL;
  heddle_signals_refresh();
  int64_t id = 0;
  int result = CONTROL(HEDDLE_GROUP_LISTEN, device, as_int(handle), as_int(&id));
  *listener = (void *)(intptr_t)id;
  return result;
}

int heddle_group_connect(void *context, void *handles[], int ranks, int rank, void *listener, void **comm) {
  (void)context;
  *comm = NULL;
  heddle_signals_refresh();
  int64_t address = 0;
  int result = CONTROL(HEDDLE_GROUP_CONNECT, as_int(listener), as_int(handles), ranks, rank, as_int(&address));
  if (result == NCCL_SUCCESS) {
    heddle_exit_flush_connected();
    heddle_signals_refresh();
    *comm = (void *)(intptr_t)address;
  }
  return result;
}

int heddle_group_contexts(void *comm, int count, int traffic_class, int rank_stride, void **contexts) {
  *contexts = NULL;
  if (rank_stride < 1) {
    heddle_log(NCCL_LOG_WARN, "contexts with a rank stride of %d; it is 1 or more", rank_stride);
    return NCCL_INVALID_ARGUMENT;
  }
  heddle_signals_refresh();
  int64_t first = 0;
  int result = CONTROL(HEDDLE_GROUP_CONTEXTS, java_id(comm), count, traffic_class, as_int(&first));
  if (result != NCCL_SUCCESS) {
    return result;
  }
  struct heddle_contexts *block = malloc(sizeof *block);
  if (block == NULL) {
    heddle_log(NCCL_LOG_WARN, "out of memory for %d contexts", count);
    return NCCL_SYSTEM_ERROR;
  }
  *block = (struct heddle_contexts){.comm = comm, .first = (int)first, .count = count};
  *contexts = block;
  return NCCL_SUCCESS;
}

int heddle_group_destroy_contexts(void *contexts) {
  free(contexts);
  return NCCL_SUCCESS;
}

int heddle_group_reg(void *comm, void *data, size_t size, int type, uint64_t flags, void **handle) {
  (void)flags; /* unused: they only request ordered signals, which signals in host memory always are */
  *handle = NULL;
  if (type != HOST_MEMORY) {
    heddle_log(NCCL_LOG_WARN, "one-sided operations access GPU memory (type 2 of NCCL's) by its dma-buf only; a job "
                              "without dma-bufs must run "
                              "without HEDDLE_ONE_SIDED=1, so that NCCL uses another transport for them");
    return NCCL_INVALID_USAGE;
  }
  heddle_signals_refresh();
  int64_t number = 0;
  int result = CONTROL(HEDDLE_GROUP_REGISTER, java_id(comm), as_int(data), (int64_t)size, type, as_int(&number));
  if (result == NCCL_SUCCESS) {
    *handle = (void *)(intptr_t)(number + 1);
  }
  return result;
}

int heddle_group_reg_dma_buf(void *comm, void *data, size_t size, int type, uint64_t offset, int fd, uint64_t flags,
                             void **handle) {
  (void)flags; /* unused: they only request ordered signals; a READ before each signal in GPU memory orders it */
  *handle = NULL;
  heddle_signals_refresh();
  struct heddle_dma_buf memory = {
      .address = as_int(data), .length = (int64_t)size, .type = type, .offset = (int64_t)offset, .fd = fd};
  int64_t number = 0;
  int result = CONTROL(HEDDLE_GROUP_REGISTER_DMA_BUF, java_id(comm), as_int(&memory), as_int(&number));
  if (result == NCCL_SUCCESS) {
    *handle = (void *)(intptr_t)(number + 1);
  }
  return result;
}

int heddle_group_dereg(void *comm, void *handle) {
  heddle_signals_refresh();
  return CONTROL(HEDDLE_GROUP_DEREGISTER, java_id(comm), number_of(handle));
}

int heddle_group_close(void *comm) {
  heddle_signals_refresh();
  return CONTROL(HEDDLE_GROUP_CLOSE, java_id(comm));
}

int heddle_group_close_listen(void *listener) {
  heddle_signals_refresh();
  return CONTROL(HEDDLE_GROUP_CLOSE_LISTEN, as_int(listener));
}

static int start(struct heddle_contexts *block, int context, struct heddle_operation *operation, void **request) {
  *request = NULL;
  int result = heddle_enter();
  if (UNLIKELY(result != NCCL_SUCCESS)) {
    return result;
  }
  if (UNLIKELY(context < 0 || context >= block->count)) {
    heddle_log(NCCL_LOG_WARN, "one-sided operation in context %d; there are %d contexts", context, block->count);
    return NCCL_INVALID_ARGUMENT;
  }
  operation->context = block->first + context;
  return MANAGE(HEDDLE_GROUP_START, java_id(block->comm), as_int(operation), as_int(request));
}

int heddle_group_put(void *contexts, int context, uint64_t local_offset, void *local, size_t size,
                     uint64_t remote_offset, void *remote, uint32_t rank, void **request) {
  struct heddle_operation operation = {
      .target = rank,
      .local = number_of(local),
      .local_offset = (int64_t)local_offset,
      .length = (int64_t)size,
      .remote = number_of(remote),
      .remote_offset = (int64_t)remote_offset,
  };
  return start(contexts, context, &operation, request);
}

int heddle_group_get(void *contexts, int context, uint64_t remote_offset, void *remote, size_t size,
                     uint64_t local_offset, void *local, uint32_t rank, void **request) {
  struct heddle_operation operation = {
      .get = 1,
      .target = rank,
      .local = number_of(local),
      .local_offset = (int64_t)local_offset,
      .length = (int64_t)size,
      .remote = number_of(remote),
      .remote_offset = (int64_t)remote_offset,
  };
  return start(contexts, context, &operation, request);
}

int heddle_group_put_signal(void *contexts, int context, uint64_t local_offset, void *local, size_t size,
                            uint64_t remote_offset, void *remote, uint32_t rank, uint64_t signal_offset, void *signal,
                            uint64_t value, uint32_t kind, bool strong, void **request) {
  if (UNLIKELY(kind != NCCL_SIGNAL_INCREMENT && kind != NCCL_SIGNAL_ADD)) {
    *request = NULL;
    heddle_log(NCCL_LOG_WARN, "signal of kind %u; 1 (increment) and 2 (add) are supported", kind);
    return NCCL_INVALID_ARGUMENT;
  }
  struct heddle_operation operation = {
      .target = rank,
      .local = number_of(local),
      .local_offset = (int64_t)local_offset,
      .length = remote == NULL ? 0 : (int64_t)size, /* without remote memory, the operation is a signal alone */
      .remote = number_of(remote),
      .remote_offset = (int64_t)remote_offset,
      .signal = strong ? 2 : 1,
      .signal_registration = number_of(signal),
      .signal_offset = (int64_t)signal_offset,
      .addend = kind == NCCL_SIGNAL_INCREMENT ? 1 : (int64_t)value,
  };
  return start(contexts, context, &operation, request);
}

/*
 * Makes the data of earlier gets visible. In host memory, data is visible when the get's request is done. In GPU
 * memory, it is visible after the adapter has read from there.
 */
int heddle_group_flush(void *contexts, int context, void *handle, uint32_t rank, void **request) {
  (void)context;
  *request = NULL;
  int result = heddle_enter();
  return result != NCCL_SUCCESS ? result
                                : MANAGE(HEDDLE_GROUP_FLUSH, java_id(((struct heddle_contexts *)contexts)->comm), rank,
                                         number_of(handle), as_int(request));
}

int heddle_group_test(void *comm, void *request, int *done) {
  (void)comm;
  if (request == NULL) { /* a NULL request stands for a flush of host memory, which is always done */
    *done = 1;
    return NCCL_SUCCESS;
  }
  return heddle_test(request, done, NULL);
}

int heddle_group_progress(void *contexts) { return heddle_progress(((struct heddle_contexts *)contexts)->comm); }

int heddle_group_last_error(void *contexts, bool *failed) {
  int result = heddle_enter();
  if (result != NCCL_SUCCESS) {
    return result;
  }
  int64_t found = 0;
  result = MANAGE(HEDDLE_GROUP_FAILED, java_id(((struct heddle_contexts *)contexts)->comm), as_int(&found));
  *failed = found != 0;
  return result;
}
