/* Functions that several old versions of NCCL's net plugin interface share, implemented with core.c. */
#include "shim.h"

/* Sets the device handle to NULL, since the plugin has no device offload. */
static void no_device_handle(void **device_handle) {
  if (device_handle != NULL) {
    *device_handle = NULL;
  }
}

int heddle_listen_v6(int device, void *handle, void **listen_comm) {
  return heddle_listen(NULL, device, handle, listen_comm);
}

int heddle_connect_v7(int device, void *handle, void **comm, void **device_handle) {
  no_device_handle(device_handle);
  return heddle_connect(NULL, device, -1, handle, comm);
}

int heddle_connect_v11(void *context, int device, void *handle, void **comm, void **device_handle) {
  no_device_handle(device_handle);
  return heddle_connect(context, device, -1, handle, comm); /* -1: the context has the traffic class */
}

int heddle_accept_v7(void *listen_comm, void **comm, void **device_handle) {
  no_device_handle(device_handle);
  return heddle_accept(listen_comm, comm);
}

int heddle_reg_v6(void *comm, void *data, int size, int type, void **handle) {
  if (size < 0) {
    heddle_log(NCCL_LOG_WARN, "registration of %d bytes refused: the size is negative", size);
    return NCCL_INVALID_ARGUMENT;
  }
  return heddle_reg(comm, data, (size_t)size, type, handle);
}

int heddle_isend_v6(void *comm, void *data, int size, int tag, void *handle, void **request) {
  if (UNLIKELY(size < 0)) {
    *request = NULL;
    heddle_log(NCCL_LOG_WARN, "isend of %d bytes refused: the size is negative", size);
    return NCCL_INVALID_ARGUMENT;
  }
  return heddle_isend(comm, data, (size_t)size, tag, handle, request);
}

int heddle_isend_v10(void *comm, void *data, size_t size, int tag, void *handle, void *profiler_handle,
                     void **request) {
  int result = heddle_isend(comm, data, size, tag, handle, request);
  if (heddle_profiler != NULL && profiler_handle != NULL && *request != NULL && result == NCCL_SUCCESS) {
    heddle_profile_send(*request, size, tag, profiler_handle);
  }
  return result;
}

int heddle_irecv_v6(void *comm, int n, void **data, int *sizes, int *tags, void **handles, void **request) {
  size_t wide[HEDDLE_MAX_RECEIVES];
  for (int i = 0; i < n && i < HEDDLE_MAX_RECEIVES; i++) {
    if (UNLIKELY(sizes[i] < 0)) {
      *request = NULL;
      heddle_log(NCCL_LOG_WARN, "irecv of %d bytes refused: the size is negative", sizes[i]);
      return NCCL_INVALID_ARGUMENT;
    }
    wide[i] = (size_t)sizes[i];
  }
  return heddle_irecv(comm, n, data, wide, tags, handles, request);
}

int heddle_irecv_v10(void *comm, int n, void **data, size_t *sizes, int *tags, void **handles, void **profiler_handles,
                     void **request) {
  (void)profiler_handles; /* unused: only the sender reports to the profiler, since only it knows each plane's bytes */
  return heddle_irecv(comm, n, data, sizes, tags, handles, request);
}
