/*
 * The internal table between the shim and Java. Every value that crosses is a 64-bit integer: FFM links each distinct
 * call shape at a cost of 2 to 3 ms, so entries with equally many arguments share one.
 *
 * Java's side of this file is io.heddle.plugin.JavaCalls. Java compares sizeof and offsetof facts (struct
 * heddle_host) with its own layouts and refuses to start on a mismatch.
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
 * A request, shared by both sides, one 64-byte line. Java owns and recycles the memory. Java writes sizes, then state
 * with release. The shim reads state with acquire. If it isn't pending, the shim answers test() without entering Java
 * and writes RELEASED with release, which returns the line to Java. A failed request is released likewise. state:
 * pending, done, released, or a negated ncclResult_t.
 */
enum { HEDDLE_REQUEST_PENDING = 0, HEDDLE_REQUEST_DONE = 1, HEDDLE_REQUEST_RELEASED = 2 };

struct heddle_request {
  int32_t state;
  int32_t count;                      /* number of valid entries of sizes: 1 for a send, n for a receive */
  int32_t sizes[HEDDLE_MAX_RECEIVES]; /* bytes */
  struct heddle_comm *comm;
  int64_t java_id;                /* Java's only, not read by the shim */
  struct heddle_profile *profile; /* the shim's only: NULL unless a profiler follows the message */
};

/*
 * A communicator (send or receive), shared by both sides, one 64-byte line. Java owns the memory, and sets java_id
 * and polls before it returns the address.
 */
struct heddle_comm {
  int64_t java_id; /* the argument of progress, isend, ... */
  /* The next three are the shim's only, written by the thread that calls test() for this comm. */
  struct heddle_request *sweep_marker; /* request whose test entered Java last; its next test begins a new sweep */
  int32_t skipped;                     /* tests answered "pending" since then */
  int32_t spared;                      /* sweeps in a row that did not enter Java */
  struct heddle_profile *profiles;     /* the shim's too: messages that a profiler follows */
  int64_t events;                      /* the device's: counts completions that wait for Java */
  int64_t events_seen;                 /* the shim's: value of events when Java was entered last */
  /*
   * Counter of polls of the device, by any thread. Java's, valid for the process's life; NULL: the device needs no
   * polls.
   */
  const int64_t *polls;
  int64_t polls_seen; /* newest poll seen by this comm's caller; written by the thread that drives it */
};

/* One plane's share of a send in flight; a chunk counts for the plane that posted it last. */
struct heddle_plane_bytes {
  const char *name;    /* the plane's key; valid as long as the communicator */
  int64_t chunks_left; /* of the whole message: chunks not yet posted on any plane */
  int64_t chunks_posted;
  int64_t chunks_acknowledged;
  int64_t bytes_posted;
  int64_t bytes_acknowledged;
};

/* A one-sided operation. Unused fields are 0; registrations are numbers, -1 for none. */
struct heddle_operation {
  int64_t get; /* 0: a put */
  int64_t target;
  int64_t context;
  int64_t local;
  int64_t local_offset;
  int64_t length; /* bytes */
  int64_t remote;
  int64_t remote_offset;
  int64_t signal; /* 0 none, 1 weak, 2 strong */
  int64_t signal_registration;
  int64_t signal_offset;
  int64_t addend;
};

/* GPU memory, by its dma-buf. */
struct heddle_dma_buf {
  int64_t address;
  int64_t length; /* bytes */
  int64_t type;   /* type of memory at the address */
  int64_t offset; /* of the first byte in the dma-buf */
  int64_t fd;     /* the caller's */
};

/* Properties of a device: a superset of every ABI version. The strings are valid for the process's life. */
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
  int64_t rail_id;  /* -1: undefined */
  int64_t plane_id; /* -1: undefined, since a device of ours spans all planes */
};

/*
 * File descriptors of the plugin, which a forked child closes. Java writes, one thread at a time; the child reads. A
 * number is the plugin's only while the file open there has this inode: the host may have reused the number
 * meanwhile.
 */
#define HEDDLE_MAX_DESCRIPTORS (1 << 18)

struct heddle_descriptors {
  int64_t end; /* number of entries; written with release, after the entries before it */
  int64_t reserved;
  struct {
    uint64_t device;            /* major in the low half, minor in the high one */
    uint64_t inode;             /* 0: none; written with release, after device */
  } of[HEDDLE_MAX_DESCRIPTORS]; /* by number */
};

/* Functions and facts of the shim for Java. Valid for the process's life. */
struct heddle_host {
  uint64_t size;          /* sizeof(struct heddle_host) */
  uint64_t table_version; /* HEDDLE_TABLE_VERSION */
  uint64_t abi_version;   /* 6 to 12: the NCCL table through which the plugin was loaded first */
  /* Writes one sentence to NCCL's logger: level 2 WARN, 3 INFO, 5 TRACE; the text is NUL-terminated UTF-8. */
  void (*log)(int64_t level, const char *sentence);
  const char *library_path; /* the .so's real path */
  const char *commit;       /* source revision of the build, or "unknown" */
  uint64_t sizeof_request, sizeof_comm, sizeof_properties, sizeof_calls;
  uint64_t offsetof_request_sizes, offsetof_request_comm, offsetof_request_java_id;
  uint64_t sizeof_plane_bytes;
  uint64_t offsetof_comm_events, offsetof_comm_polls, offsetof_comm_polls_seen;
  struct heddle_descriptors *descriptors; /* NULL: no memory for it */
};

/*
 * Operations of manage(), with their arguments in order; unused arguments are 0. Contexts, listeners and memory are
 * ids, never 0.
 */
enum heddle_manage {
  HEDDLE_INIT,              /* comm_id, traffic_class, out_context: -1 is an undefined traffic class */
  HEDDLE_FINALIZE,          /* context */
  HEDDLE_DEVICES,           /* out_count: int64_t */
  HEDDLE_GET_PROPERTIES,    /* device, out_properties */
  HEDDLE_LISTEN,            /* context, device, handle, out_listen_comm: 128-byte handle; context is 0 below v11 */
  HEDDLE_CONNECT,           /* context, device, traffic_class, handle, out_comm: 0 = call again; else heddle_comm * */
  HEDDLE_ACCEPT,            /* listen_comm, out_comm: likewise */
  HEDDLE_REGISTER_MEMORY,   /* comm java_id, data, size, type, out_handle */
  HEDDLE_DEREGISTER_MEMORY, /* comm java_id, handle */
  HEDDLE_CLOSE_SEND,        /* comm java_id */
  HEDDLE_CLOSE_RECEIVE,     /* comm java_id */
  HEDDLE_CLOSE_LISTEN,      /* listen_comm */
  /*
   * comm java_id, struct heddle_request *, struct heddle_plane_bytes[HEDDLE_MAX_PLANES], out_count: of a send that
   * isn't RELEASED; out_count 0: not known at this moment
   */
  HEDDLE_PLANES_OF,
  HEDDLE_FLUSH_BEFORE_EXIT, /* budget_ns, quiet_ns: Java's side of heddle_flush_before_exit() */
  /* The one-sided interface. A group is a heddle_comm *, its registrations are numbers from 0. */
  HEDDLE_GROUP_LISTEN,       /* device, handle, out_listener: 128-byte handle */
  HEDDLE_GROUP_CONNECT,      /* listener, handles: void *[], ranks, rank, out_comm: heddle_comm * */
  HEDDLE_GROUP_CONTEXTS,     /* group java_id, count, traffic_class, out_first */
  HEDDLE_GROUP_REGISTER,     /* group java_id, data, size, type, out_number */
  HEDDLE_GROUP_DEREGISTER,   /* group java_id, number */
  HEDDLE_GROUP_START,        /* group java_id, struct heddle_operation *, out_request */
  HEDDLE_GROUP_FAILED,       /* group java_id, out_failed: 0 or 1 */
  HEDDLE_GROUP_CLOSE,        /* group java_id */
  HEDDLE_GROUP_CLOSE_LISTEN, /* listener */
  HEDDLE_GROUP_FLUSH, /* group java_id, rank, number, out_request: makes data of earlier gets from the rank visible */
  HEDDLE_GROUP_REGISTER_DMA_BUF, /* group java_id, struct heddle_dma_buf *, out_number */
};

/*
 * Filled by Java, once. Addresses (data, out, handle, ...) are plain native addresses. All calls but the data path's
 * share one entry, since each entry is linked while NCCL waits for init: eighteen entries of seven shapes took 29 ms,
 * these six of three take 13.
 */
struct heddle_calls {
  uint64_t size;      /* set by the shim: sizeof(struct heddle_calls) */
  uint64_t jvm_ended; /* Java writes 1 with release when its JVM ends: no thread may enter any more */
  /* isend(comm java_id, data, size, tag, memory_handle, out_request): *out NULL = would block, nothing was consumed */
  int32_t (*isend)(int64_t comm, int64_t data, int64_t size, int64_t tag, int64_t memory_handle, int64_t out_request);
  /* irecv(comm, n, void **data, size_t *sizes, int *tags, void **memory_handles, out_request) */
  int32_t (*irecv)(int64_t comm, int64_t n, int64_t data, int64_t sizes, int64_t tags, int64_t memory_handles,
                   int64_t out_request);
  /* iflush(comm, n, void **data, int *sizes, void **memory_handles, out_request): *out NULL = nothing to do */
  int32_t (*iflush)(int64_t comm, int64_t n, int64_t data, int64_t sizes, int64_t memory_handles, int64_t out_request);
  /* progress(comm java_id): advances the device and all requests of this comm; called by test() */
  int32_t (*progress)(int64_t comm);
  /* The one control-path call with more arguments than manage() has. */
  int32_t (*register_dma_buf)(int64_t comm, int64_t data, int64_t size, int64_t type, int64_t offset, int64_t fd,
                              int64_t out_handle);
  /* manage(enum heddle_manage, ...) */
  int32_t (*manage)(int64_t what, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e);
};

/*
 * Java's entry, called once through JNI after the JVM's creation:
 *   static int io.heddle.plugin.PluginEntry.start(long host, long calls)
 * Returns 0 if the table is filled. Otherwise the reason was logged.
 */

#endif
