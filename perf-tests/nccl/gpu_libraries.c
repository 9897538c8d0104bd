#include "gpu_libraries.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct wanted {
  const char *name;
  size_t offset;
};

#define FIELD(field) offsetof(struct gpu_libraries, field)

/* A CUDA function whose arguments have been widened to 64 bits has a version suffix in its name. */
static const struct wanted OF_CUDA[] = {
    {"cuInit", FIELD(init)},
    {"cuDeviceGetCount", FIELD(device_count)},
    {"cuDeviceGet", FIELD(device_get)},
    {"cuDeviceGetName", FIELD(device_name)},
    {"cuDevicePrimaryCtxRetain", FIELD(retain_context)},
    {"cuCtxSetCurrent", FIELD(use_context)},
    {"cuMemAlloc_v2", FIELD(allocate)},
    {"cuMemFree_v2", FIELD(release)},
    {"cuMemcpyHtoD_v2", FIELD(to_device)},
    {"cuMemcpyDtoH_v2", FIELD(to_host)},
    {"cuMemsetD32_v2", FIELD(set_words)},
    {"cuStreamCreate", FIELD(make_stream)},
    {"cuStreamSynchronize", FIELD(await_stream)},
};

static const struct wanted OF_NCCL[] = {
    {"ncclGetVersion", FIELD(version)},
    {"ncclGetUniqueId", FIELD(unique_id)},
    {"ncclCommInitRank", FIELD(join)},
    {"ncclCommDestroy", FIELD(leave)},
    {"ncclGetErrorString", FIELD(error_text)},
    {"ncclAllReduce", FIELD(all_reduce)},
    {"ncclAllGather", FIELD(all_gather)},
    {"ncclSend", FIELD(send)},
    {"ncclRecv", FIELD(receive)},
    {"ncclGroupStart", FIELD(group_start)},
    {"ncclGroupEnd", FIELD(group_end)},
};

static int find(struct gpu_libraries *libraries, const char *file, const struct wanted *list, size_t count,
                char *reason, size_t size) {
  void *library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) {
    snprintf(reason, size, "%s", dlerror());
    return -1;
  }
  for (size_t i = 0; i < count; i++) {
    void *function = dlsym(library, list[i].name);
    if (function == NULL) {
      snprintf(reason, size, "%s has no %s", file, list[i].name);
      return -1;
    }
    memcpy((char *)libraries + list[i].offset, &function, sizeof function);
  }
  return 0;
}

int gpu_libraries_open(struct gpu_libraries *libraries, const char *nccl, int *devices, char *reason, size_t size) {
  if (find(libraries, "libcuda.so.1", OF_CUDA, sizeof OF_CUDA / sizeof OF_CUDA[0], reason, size) != 0) return -1;
  cuda_result result = libraries->init(0);
  if (result != 0 || libraries->device_count(devices) != 0 || *devices == 0) {
    snprintf(reason, size, "the CUDA driver has no device (cuInit returned %d)", result);
    return -1;
  }
  const char *file = nccl == NULL ? "libnccl.so.2" : nccl;
  return find(libraries, file, OF_NCCL, sizeof OF_NCCL / sizeof OF_NCCL[0], reason, size);
}
