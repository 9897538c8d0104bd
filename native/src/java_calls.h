/*
 * The internal table between the shim and Java. Every argument is a 64-bit integer. FFM links each distinct call shape
 * at a cost of 2 to 3 ms, so entries with equally many arguments share one shape.
 *
 * The Java declarations that match this file are in io.heddle.plugin.JavaCalls. Java compares sizeof and offsetof facts
 * (struct heddle_host) with its own layouts and refuses to start on a mismatch.
 *
 * Every entry returns an ncclResult_t: 0 success, 2 system error, 3 internal error, 4 invalid argument, 5 invalid
 * usage, 6 remote error.
 */
#ifndef HEDDLE_JAVA_CALLS_H
#define HEDDLE_JAVA_CALLS_H

#include <stdint.h>

#define HEDDLE_TABLE_VERSION 6
#define HEDDLE_HANDLE_BYTES 128
#define HEDDLE_MAX_RECEIVES 8
#define HEDDLE_MAX_PLANES 64

/*
 * A request: 64 bytes (one cache line) that C and Java share. Java owns and recycles the memory. Java writes sizes,
 * then state with release. The shim reads state with acquire. Unless state is pending, the shim answers test() without
 * entering Java. It then writes RELEASED with release, which returns the request to Java, also after a failure. state:
 * pending, done, released, or a negated ncclResult_t.
 */
enum { HEDDLE_REQUEST_PENDING = 0, HEDDLE_REQUEST_DONE = 1, HEDDLE_REQUEST_RELEASED = 2 };

struct heddle_request {
  int32_t state;
  int32_t count;                      /* number of valid entries of sizes: 1 for a send, n for a receive */
  int32_t sizes[HEDDLE_MAX_RECEIVES]; /* bytes */
  struct heddle_comm *comm;
  int64_t java_id;                /* used by Java only */
  struct heddle_profile *profile; /* used by the shim only: NULL unless a profiler follows the message */
};

/*
 * A communicator (send or receive): 64 bytes (one cache line) that C and Java share. Java owns the memory, and sets
 * java_id and polls before it returns the address.
 */
struct heddle_comm {
  int64_t java_id; /* first argument of progress, isend and the other entries */
  /* Only the shim uses the next three fields, on the thread that calls test() for this comm. */
  struct heddle_request *sweep_marker; /* its test began the last sweep (core.c); its next test begins a new one */
  int32_t pending_tests;               /* tests answered "pending" since the last sweep began */
  int32_t skipped_sweeps;              /* sweeps in a row that did not enter Java */
  struct heddle_profile *profiles;     /* used by the shim only: messages that a profiler follows */
  int64_t events;                      /* written by the device: number of completions so far */
  int64_t events_seen;                 /* used by the shim only: value of events at the last entry into Java */
  /*
   * Points to the time, in ns, at which any thread last polled the device. Java owns this memory, which stays valid
   * until the process ends. NULL if the device needs no polls.
   */
  const int64_t *polls;
  int64_t polls_seen; /* value of *polls that this comm's caller saw last; written by the thread that drives the comm */
};

/* One plane's share of a send in flight. A chunk counts for the plane that posted it last. */
struct heddle_plane_bytes {
  const char *name;    /* the plane's key; valid as long as the communicator */
  int64_t chunks_left; /* chunks of the whole message that no plane has posted yet */
  int64_t chunks_posted;
  int64_t chunks_acknowledged;
  int64_t bytes_posted;
  int64_t bytes_acknowledged;
};

/* A one-sided operation. Unused fields are 0. A registration is given by its number; -1 means no registration. */
struct heddle_operation {
  int64_t get; /* 1: a get; 0: a put */
  int64_t target;
  int64_t context;
  int64_t local;
  int64_t local_offset;
  int64_t length; /* bytes */
  int64_t remote;
  int64_t remote_offset;
  int64_t signal; /* strength of the signal: 0 none, 1 weak, 2 strong */
  int64_t signal_registration;
  int64_t signal_offset;
  int64_t addend;
};

/* GPU memory and the dma-buf that exports it. */
struct heddle_dma_buf {
  int64_t address;
  int64_t length; /* bytes */
  int64_t type;   /* type of memory at the address */
  int64_t offset; /* offset of the first byte in the dma-buf */
  int64_t fd;     /* descriptor of the dma-buf, which the caller owns */
};

/*
 * Properties of a device: the union of the properties of all ABI versions. The strings are valid for the process's
 * life.
 */
struct heddle_properties {
  const char *name;
  const char *pci_path;
  uint64_t guid;
  int64_t pointer_support; /* NCCL_PTR_HOST 1, NCCL_PTR_CUDA 2, NCCL_PTR_DMABUF 4 */
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
  int64_t rail_id;  /* -1 if undefined */
  int64_t plane_id; /* -1 (undefined), since each of the plugin's devices spans all planes */
};

/*
 * File descriptors of the plugin, which a forked child closes. Java writes the table, one thread at a time; the child
 * reads it. An entry is valid only while its descriptor's file has the entry's inode, since the host may have reused
 * the descriptor.
 */
#define HEDDLE_MAX_DESCRIPTORS (1 << 18)

struct heddle_descriptors {
  int64_t end; /* number of entries; written with release, after the entries themselves */
  int64_t reserved;
  struct {
    uint64_t device;            /* device number of the file: major in the low half, minor in the high half */
    uint64_t inode;             /* inode, or 0 for none; written with release, after device */
  } of[HEDDLE_MAX_DESCRIPTORS]; /* indexed by descriptor */
};

/* Functions and facts of the shim for Java. Valid for the process's life. */
struct heddle_host {
  uint64_t size;          /* set to sizeof(struct heddle_host) */
  uint64_t table_version; /* set to HEDDLE_TABLE_VERSION */
  uint64_t abi_version;   /* version, 6 to 12, of the NCCL table through which the plugin was loaded first */
  /* Writes one sentence to NCCL's logger: level 2 WARN, 3 INFO, 5 TRACE; the text is NUL-terminated UTF-8. */
  void (*log)(int64_t level, const char *sentence);
  const char *library_path; /* real path of the .so */
  const char *commit;       /* source revision of the build, or "unknown" */
  uint64_t sizeof_request, sizeof_comm, sizeof_properties, sizeof_calls;
  uint64_t offsetof_request_sizes, offsetof_request_comm, offsetof_request_java_id;
  uint64_t sizeof_plane_bytes;
  uint64_t offsetof_comm_events, offsetof_comm_polls, offsetof_comm_polls_seen;
  struct heddle_descriptors *descriptors; /* NULL if there was no memory for the table */
};

/*
 * Operations of manage(), with their arguments in order; unused arguments are 0. Contexts, listeners and memory are
 * ids, never 0.
 */
enum heddle_manage {
  HEDDLE_INIT,           /* arguments: comm_id, traffic_class (-1: undefined), out_context */
  HEDDLE_FINALIZE,       /* argument: context */
  HEDDLE_DEVICES,        /* argument: out_count, an int64_t * */
  HEDDLE_GET_PROPERTIES, /* arguments: device, out_properties */
  HEDDLE_LISTEN,         /* arguments: context (0 below v11), device, handle (128 bytes), out_listen_comm */
  /* arguments: context, device, traffic_class, handle, out_comm: 0 asks to call again, else a heddle_comm * */
  HEDDLE_CONNECT,
  HEDDLE_ACCEPT,            /* arguments: listen_comm, out_comm: 0 asks to call again, else a heddle_comm * */
  HEDDLE_REGISTER_MEMORY,   /* arguments: comm java_id, data, size, type, out_handle */
  HEDDLE_DEREGISTER_MEMORY, /* arguments: comm java_id, handle */
  HEDDLE_CLOSE_SEND,        /* argument: comm java_id */
  HEDDLE_CLOSE_RECEIVE,     /* argument: comm java_id */
  HEDDLE_CLOSE_LISTEN,      /* argument: listen_comm */
  /*
   * arguments: comm java_id, struct heddle_request *, struct heddle_plane_bytes[HEDDLE_MAX_PLANES], out_count: the
   * request is a send that isn't RELEASED; out_count 0: Java doesn't know the planes at this moment
   */
  HEDDLE_PLANES_OF,
  HEDDLE_FLUSH_BEFORE_EXIT, /* arguments: budget_ns, quiet_ns, as in heddle_flush_before_exit() */
  /* The one-sided interface. A group is a heddle_comm *, and its registrations are numbers from 0. */
  HEDDLE_GROUP_LISTEN,       /* arguments: device, handle (128 bytes), out_listener */
  HEDDLE_GROUP_CONNECT,      /* arguments: listener, handles (void *[]), ranks, rank, out_comm (a heddle_comm *) */
  HEDDLE_GROUP_CONTEXTS,     /* arguments: group java_id, count, traffic_class, out_first */
  HEDDLE_GROUP_REGISTER,     /* arguments: group java_id, data, size, type, out_number */
  HEDDLE_GROUP_DEREGISTER,   /* arguments: group java_id, number */
  HEDDLE_GROUP_START,        /* arguments: group java_id, struct heddle_operation *, out_request */
  HEDDLE_GROUP_FAILED,       /* arguments: group java_id, out_failed (0 or 1) */
  HEDDLE_GROUP_CLOSE,        /* argument: group java_id */
  HEDDLE_GROUP_CLOSE_LISTEN, /* argument: listener */
  /*
   * arguments: group java_id, rank, registration's number, out_request; makes data of earlier gets from the rank
   * visible
   */
  HEDDLE_GROUP_FLUSH,
  HEDDLE_GROUP_REGISTER_DMA_BUF, /* arguments: group java_id, struct heddle_dma_buf *, out_number */
};

/*
 * Java's functions for the shim. Java fills this table once. Addresses (data, out, handle, ...) are plain native
 * addresses. All control-path calls share one entry, since Java links each entry while NCCL waits for init. Eighteen
 * entries of seven shapes took 29 ms; these six entries of three shapes take 13 ms.
 */
struct heddle_calls {
  uint64_t size;      /* set by the shim: sizeof(struct heddle_calls) */
  uint64_t jvm_ended; /* Java writes 1 with release when its JVM ends; from then on no thread may enter */
  /*
   * isend(comm java_id, data, size, tag, memory_handle, out_request): *out_request is NULL if the call would block;
   * nothing is sent then
   */
  int32_t (*isend)(int64_t comm, int64_t data, int64_t size, int64_t tag, int64_t memory_handle, int64_t out_request);
  /* irecv(comm, n, void **data, size_t *sizes, int *tags, void **memory_handles, out_request) */
  int32_t (*irecv)(int64_t comm, int64_t n, int64_t data, int64_t sizes, int64_t tags, int64_t memory_handles,
                   int64_t out_request);
  /*
   * iflush(comm, n, void **data, int *sizes, void **memory_handles, out_request): *out_request is NULL if there is
   * nothing to do
   */
  int32_t (*iflush)(int64_t comm, int64_t n, int64_t data, int64_t sizes, int64_t memory_handles, int64_t out_request);
  /* progress(comm java_id): advances the device and all requests of this comm; called by test() */
  int32_t (*progress)(int64_t comm);
  /*
   * register_dma_buf(comm java_id, data, size, type, offset, fd, out_handle): the only control-path call with more
   * arguments than manage() takes
   */
  int32_t (*register_dma_buf)(int64_t comm, int64_t data, int64_t size, int64_t type, int64_t offset, int64_t fd,
                              int64_t out_handle);
  /* manage(enum heddle_manage, ...) */
  int32_t (*manage)(int64_t what, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e);
};

/*
 * Java's entry point, which the shim calls once through JNI after the JVM's creation: static int
 * io.heddle.plugin.PluginEntry.start(long host, long calls). Returns 0 if the table is filled. Otherwise Java has
 * logged the reason.
 */

#endif
