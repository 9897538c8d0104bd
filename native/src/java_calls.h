/*
 * The one internal table between the shim and Java. Everything that crosses is a 64-bit integer: FFM links each distinct
 * shape of a call at a cost of 2 to 3 ms, so all entries share one shape per number of arguments.
 *
 * Java's side of this file is io.heddle.plugin.JavaCalls; Java compares sizeof and offsetof facts (struct heddle_host)
 * with its own layouts and refuses to start on a mismatch.
 *
 * Every entry returns an ncclResult_t: 0 success, 2 system error, 3 internal error, 4 invalid argument, 5 invalid usage,
 * 6 remote error.
 */
#ifndef HEDDLE_JAVA_CALLS_H
#define HEDDLE_JAVA_CALLS_H

#include <stdint.h>

#define HEDDLE_TABLE_VERSION 2
#define HEDDLE_HANDLE_BYTES 128
#define HEDDLE_MAX_RECEIVES 8
#define HEDDLE_MAX_PLANES 64

/*
 * A request as both sides see it, one 64-byte line. Java owns the memory and recycles it. Java writes sizes, then state
 * with release; the shim reads state with acquire and, when it isn't pending, answers test() without entering Java, then
 * writes RELEASED with release: from there on the line is Java's to use again. A failed request is released likewise.
 * state: pending, done, released, or a negated ncclResult_t.
 */
enum { HEDDLE_REQUEST_PENDING = 0, HEDDLE_REQUEST_DONE = 1, HEDDLE_REQUEST_RELEASED = 2 };

struct heddle_request {
  int32_t state;
  int32_t count;                          /* how many entries of sizes are meaningful: 1 for a send, n for a receive */
  int32_t sizes[HEDDLE_MAX_RECEIVES];     /* bytes */
  struct heddle_comm *comm;
  int64_t java_id;                        /* Java's own, untouched by the shim */
  struct heddle_profile *profile;         /* the shim's own: NULL unless a profiler listens to the message */
};

/*
 * A communicator (send or receive) as both sides see it, one 64-byte line. Java owns the memory; it fills java_id before
 * it hands the address out.
 */
struct heddle_comm {
  int64_t java_id;                        /* the argument of progress, isend, ... */
  /* The next two are the shim's alone, written by the thread that calls test() for this comm. */
  struct heddle_request *sweep_marker;    /* request whose test entered Java last; seen again = a new sweep began */
  int64_t skipped;                        /* tests answered "not yet" since then */
  struct heddle_profile *profiles;        /* the shim's too: messages that a profiler listens to */
  int64_t reserved[4];
};

/* What a plane has of a send that is under way, by who posted its chunks last. */
struct heddle_plane_bytes {
  const char *name;                       /* the plane's key; lives as long as the communicator */
  int64_t chunks_left;                    /* of the whole message: not posted on any plane yet */
  int64_t chunks_posted;
  int64_t chunks_acknowledged;
  int64_t bytes_posted;
  int64_t bytes_acknowledged;
};

/* Properties of a device, superset of every ABI version. The strings live as long as the process. */
struct heddle_properties {
  const char *name;
  const char *pci_path;
  uint64_t guid;
  int64_t pointer_support;                /* NCCL_PTR_HOST 1, NCCL_PTR_CUDA 2, NCCL_PTR_DMABUF 4 */
  int64_t registration_is_global;
  int64_t force_flush;
  int64_t speed_megabits_per_second;
  int64_t port;
  double latency_us;
  int64_t max_comms;
  int64_t max_receives;
  int64_t max_p2p_bytes;
  int64_t max_collective_bytes;
  int64_t max_multi_request_size;
  int64_t rail_id;                        /* -1: undefined */
  int64_t plane_id;                       /* -1: undefined, since a device of ours spans all planes */
};

/* What Java may call or read of the shim. Lives as long as the process. */
struct heddle_host {
  uint64_t size;                          /* sizeof(struct heddle_host) */
  uint64_t table_version;                 /* HEDDLE_TABLE_VERSION */
  uint64_t abi_version;                   /* 6 to 12: the NCCL table through which we were loaded first */
  /* Writes one sentence to NCCL's logger: level 2 WARN, 3 INFO, 5 TRACE; the text is NUL-terminated UTF-8. */
  void (*log)(int64_t level, const char *sentence);
  const char *library_path;               /* the .so's real path */
  const char *commit;                     /* source revision that was built, or "unknown" */
  uint64_t sizeof_request, sizeof_comm, sizeof_properties, sizeof_calls;
  uint64_t offsetof_request_sizes, offsetof_request_comm, offsetof_request_java_id;
  uint64_t sizeof_plane_bytes;
};

/* Filled by Java, once. Addresses (data, out, handle, ...) are plain native addresses. */
struct heddle_calls {
  uint64_t size;                          /* set by the shim: sizeof(struct heddle_calls) */
  uint64_t reserved;
  /* init(comm_id, traffic_class, out_context): -1 is an undefined traffic class; *out_context: an id, never 0 */
  int32_t (*init)(int64_t comm_id, int64_t traffic_class, int64_t out_context);
  int32_t (*finalize)(int64_t context);
  /* devices(out_count): int64_t */
  int32_t (*devices)(int64_t out_count);
  int32_t (*get_properties)(int64_t device, int64_t out_properties);
  /* listen(context, device, handle, out_listen_comm): 128-byte handle; *out: an id, never 0. context is 0 below v11. */
  int32_t (*listen)(int64_t context, int64_t device, int64_t handle, int64_t out_listen_comm);
  /* connect(context, device, traffic_class, handle, out_comm): *out 0 = call again; else struct heddle_comm * */
  int32_t (*connect)(int64_t context, int64_t device, int64_t traffic_class, int64_t handle, int64_t out_comm);
  /* accept(listen_comm, out_comm): *out 0 = call again; else struct heddle_comm * */
  int32_t (*accept)(int64_t listen_comm, int64_t out_comm);
  /* register_memory(comm java_id, data, size, type, out_handle): *out: an id, never 0 */
  int32_t (*register_memory)(int64_t comm, int64_t data, int64_t size, int64_t type, int64_t out_handle);
  int32_t (*register_dma_buf)(int64_t comm, int64_t data, int64_t size, int64_t type, int64_t offset, int64_t fd,
                              int64_t out_handle);
  int32_t (*deregister_memory)(int64_t comm, int64_t memory_handle);
  /* isend(comm java_id, data, size, tag, memory_handle, out_request): *out NULL = would block, nothing was consumed */
  int32_t (*isend)(int64_t comm, int64_t data, int64_t size, int64_t tag, int64_t memory_handle, int64_t out_request);
  /* irecv(comm, n, void **data, size_t *sizes, int *tags, void **memory_handles, out_request) */
  int32_t (*irecv)(int64_t comm, int64_t n, int64_t data, int64_t sizes, int64_t tags, int64_t memory_handles,
                   int64_t out_request);
  /* iflush(comm, n, void **data, int *sizes, void **memory_handles, out_request): *out NULL = nothing to do */
  int32_t (*iflush)(int64_t comm, int64_t n, int64_t data, int64_t sizes, int64_t memory_handles, int64_t out_request);
  /* progress(comm java_id): moves the device and everything of this comm on; called by test() */
  int32_t (*progress)(int64_t comm);
  int32_t (*close_send)(int64_t comm);
  int32_t (*close_receive)(int64_t comm);
  int32_t (*close_listen)(int64_t listen_comm);
  /*
   * planes_of(comm, struct heddle_request *, struct heddle_plane_bytes[HEDDLE_MAX_PLANES], out_count): of a send that
   * isn't RELEASED; *out 0: it can't be told at this moment
   */
  int32_t (*planes_of)(int64_t comm, int64_t request, int64_t out_planes, int64_t out_count);
};

/*
 * Java's entry, called once through JNI after the virtual machine stands:
 *   static int io.heddle.plugin.PluginEntry.start(long host, long calls)
 * 0: the table is filled. Otherwise the reason was logged.
 */

#endif
