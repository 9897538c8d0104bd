/*
 * The functions of libcuda and libnccl that heddle-nccl calls, looked up at run time. The program thus compiles on
 * machines without the libraries, and reports a missing one. Names, argument order and numbers are facts of the two
 * libraries' interfaces (CUDA 11 and later, NCCL 2.19 and later).
 */
#ifndef HEDDLE_GPU_LIBRARIES_H
#define HEDDLE_GPU_LIBRARIES_H

#include <stddef.h>
#include <stdint.h>

typedef int cuda_result; /* 0: success */
typedef int nccl_result; /* 0: success */
typedef uint64_t device_pointer;
typedef void *stream;
typedef void *communicator;

/* NCCL's id of a communicator, passed by value. */
struct nccl_unique_id {
  char bytes[128];
};

enum { NCCL_FLOAT32 = 7, NCCL_SUM = 0 };

struct gpu_libraries {
  cuda_result (*init)(unsigned flags);
  cuda_result (*device_count)(int *count);
  cuda_result (*device_get)(int *device, int ordinal);
  cuda_result (*device_name)(char *name, int size, int device);
  cuda_result (*retain_context)(void **context, int device);
  cuda_result (*use_context)(void *context);
  cuda_result (*allocate)(device_pointer *memory, size_t bytes);
  cuda_result (*release)(device_pointer memory);
  cuda_result (*to_device)(device_pointer to, const void *from, size_t bytes);
  cuda_result (*to_host)(void *to, device_pointer from, size_t bytes);
  cuda_result (*set_words)(device_pointer memory, unsigned value, size_t words);
  cuda_result (*make_stream)(stream *made, unsigned flags);
  cuda_result (*await_stream)(stream awaited);

  nccl_result (*version)(int *version);
  nccl_result (*unique_id)(struct nccl_unique_id *id);
  nccl_result (*join)(communicator *made, int ranks, struct nccl_unique_id id, int rank);
  nccl_result (*leave)(communicator left);
  const char *(*error_text)(nccl_result result);
  nccl_result (*all_reduce)(device_pointer from, device_pointer to, size_t count, int type, int operation, communicator,
                            stream);
  nccl_result (*all_gather)(device_pointer from, device_pointer to, size_t count, int type, communicator, stream);
  nccl_result (*send)(device_pointer from, size_t count, int type, int peer, communicator, stream);
  nccl_result (*receive)(device_pointer to, size_t count, int type, int peer, communicator, stream);
  nccl_result (*group_start)(void);
  nccl_result (*group_end)(void);
};

/*
 * Opens both libraries and looks for a device. Returns 0, or -1 with the reason as one sentence without full stop.
 * nccl: the library's file name, or NULL for libnccl.so.2.
 */
int gpu_libraries_open(struct gpu_libraries *libraries, const char *nccl, int *devices, char *reason, size_t size);

#endif
