/*
 * Declarations that the shim's files share, with a section for each file.
 *
 * Life of the shim: NCCL loads it (which runs no code) and calls init of the newest table that it knows. core.c calls
 * jvm_start.c, which finds or creates a JVM, and Java fills the table of java_calls.h. Afterwards every call of NCCL
 * goes through adapter_vN.c and core.c to Java. The library is linked so that it is never unloaded: a process can have
 * a JVM only once.
 */
#ifndef HEDDLE_SHIM_H
#define HEDDLE_SHIM_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <jni.h>

#include "java_calls.h"
#include "nccl_abi.h"
#include "one_sided_abi.h"

#define HEDDLE_NAME "Heddle"
#define HEDDLE_EXPORT __attribute__((visibility("default")))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* ---- log.c: NCCL's logger, or standard error for warnings before a logger is known ---- */

void heddle_log_to(nccl_logger logger);
void heddle_log(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Logs one finished sentence. Java calls this function. */
void heddle_log_sentence(int64_t level, const char *sentence);

/* ---- fork_guard.c: keeps the plugin out of forked children, where neither JVM nor verbs survive ---- */

extern bool heddle_in_forked_child;
/* Descriptors that a child closes. NULL before the guard is installed, or if there is no memory for the table. */
extern struct heddle_descriptors *heddle_descriptors;
void heddle_fork_guard_install(void);
int heddle_refuse_in_child(void);

/* ---- exit_flush.c: delays exit() until posted messages are delivered ---- */

/* Called after a successful init. */
void heddle_exit_flush_install(void);
/*
 * Called with each connection. The first call registers the exit handler again, so that it runs before handlers
 * registered since.
 */
void heddle_exit_flush_connected(void);

/* ---- threads.c: attaches data-path threads to the JVM, each thread once, after a check of its stack ---- */

/* Owner of the code that a thread runs, and therefore of a fault in that code. */
enum heddle_owner {
  HEDDLE_UNKNOWN, /* the shim never attached the thread, which is Java's own or the host's */
  HEDDLE_HOST,    /* an attached thread outside Java */
  HEDDLE_JAVA,    /* a thread inside Java, or a thread of the shim */
};

/* The TLS model is initial-exec, since a signal handler reads this variable and must not allocate. */
struct heddle_thread {
  /* lowest frame with enough stack for a call of Java; UINTPTR_MAX before the attach, so that every frame is lower */
  uintptr_t lowest_frame;
  int runs;             /* enum heddle_owner */
  int outside;          /* value of runs while the thread is outside Java */
  unsigned until_check; /* entries left until the next heddle_thread_check() */
  int watched;          /* number of next entries that all call heddle_thread_check() */
  unsigned checks;
  bool warned; /* whether a warning about too little stack was logged */
};
extern _Thread_local struct heddle_thread heddle_thread __attribute__((tls_model("initial-exec")));

/* Attaches the calling thread to Java. If the thread may not enter, logs the reason. */
int heddle_attach_thread(void);
int heddle_refuse_before_init(void);
/* Marks the calling thread as one of the shim's own, on which every fault counts as Java's. */
void heddle_mark_java_thread(void);
/*
 * Undoes the host's changes since the last check: in every call those of the thread's signal mask, in some calls also
 * those of the fault handlers.
 */
void heddle_thread_check(void);

/* Called before every entry into Java. */
static inline int heddle_enter(void) {
  if (UNLIKELY(heddle_in_forked_child)) {
    return heddle_refuse_in_child();
  }
  if (UNLIKELY((uintptr_t)__builtin_frame_address(0) < heddle_thread.lowest_frame)) {
    return heddle_attach_thread();
  }
  if (UNLIKELY(--heddle_thread.until_check == 0)) {
    heddle_thread_check();
  }
  return NCCL_SUCCESS;
}

/* Evaluates an upcall. Faults during the upcall count as Java's. */
#define IN_JAVA(upcall) \
  __extension__({ \
    heddle_thread.runs = HEDDLE_JAVA; \
    int of_upcall = (upcall); \
    heddle_thread.runs = heddle_thread.outside; \
    of_upcall; \
  })

/* ---- control_calls.c: runs control-path calls on the shim's own threads ---- */

/* Runs a call on one of the shim's threads and waits for the result. */
int heddle_control(int (*call)(void *), void *argument);
/* Counts contexts up (1) and down (-1). While there are none, no idle thread is kept. */
void heddle_control_contexts(int more);

/* ---- signals.c: passes the JVM's own faults to it, all others to the host ---- */

/* Java's fault handler, JVM_handle_linux_signal of libjvm. */
typedef int (*heddle_jvm_handler)(int signal_number, void *info, void *user_context, int abort_if_unrecognized);

/*
 * Called if the host created the JVM, whose fault handlers are installed already and stay. handle: that JVM's fault
 * handler, or NULL if it has none.
 */
void heddle_signals_attach(heddle_jvm_handler handle);
/*
 * Called before the shim creates a JVM: puts the shim's handlers in front of the host's, and saves all dispositions.
 * Returns false if the JVM has to install its own handlers.
 */
bool heddle_signals_before_creation(heddle_jvm_handler handle);
/*
 * Called after the creation of a JVM: restores the host's signal dispositions. If a JVM was created, the fault signals
 * keep the shim's handlers, and up to two other signals keep Java's.
 */
void heddle_signals_after_creation(bool created);
/* Sets the path of the file for Java's report of its own fault. Copies the path. */
void heddle_signals_report_in(const char *path);
/* Reads the current fault handlers and puts the shim's in front of new ones. Takes four system calls if none is new. */
void heddle_signals_refresh(void);

/* ---- fault_report.c: chooses the file for Java's reports of its own faults ---- */

#define HEDDLE_FAULT_REPORT_BYTES (PATH_MAX + 64)
/* Returns the JVM option that names the report's file. */
void heddle_fault_report(char option[HEDDLE_FAULT_REPORT_BYTES]);

/* ---- jvm_find.c: chooses libjvm.so ---- */

struct heddle_jvm_choice {
  char library[PATH_MAX]; /* real path of libjvm.so */
  char home[PATH_MAX];
  char source[64];     /* name of the variable, or kind of folder, that led to libjvm.so */
  char version[32];    /* JAVA_VERSION in the release file of home, or "unknown" */
  char rejected[1024]; /* candidates tried before, with the reasons against them; may be empty */
};

/* plugin_folder: the folder of the .so. Returns false if no JVM was found; choice->rejected then has the reasons. */
bool heddle_jvm_find(const char *plugin_folder, struct heddle_jvm_choice *choice);

/* ---- start_limits.c: tries the threads, memory and descriptors that a start needs ---- */

/* Checks that there are enough free descriptors for a start. If not, logs the limit and returns false. */
bool heddle_start_has_descriptors(void);
/*
 * Checks that there are enough threads and memory to create a JVM, by allocating both for a moment. The caller blocks
 * all signals; the threads created for the check inherit this mask.
 */
bool heddle_start_has_threads_and_memory(void);
struct heddle_thread_limits {
  char text[256];
};

/* Returns the limits on threads, as the shell and the control group report them. */
struct heddle_thread_limits heddle_thread_limits(void);
/*
 * Returns the limits as the end of a sentence if the given words are about a refused thread. Otherwise returns an empty
 * text.
 */
struct heddle_thread_limits heddle_thread_limits_suffix(const char *words);
/*
 * Logs that a thread was refused, with the limits. had: number of threads created before; error: pthread_create's
 * result.
 */
void heddle_log_missing_threads(int had, int error);

/* ---- java_preflight.c: tries the calls whose refusal would end the process during Java's start ---- */

/*
 * Returns whether the process may make these calls. If not, logs the cause and the remedy. Called only if the shim
 * creates the JVM.
 */
bool heddle_java_may_run(void);

/* ---- jvm_start.c: creates or joins a JVM and loads the jar, whose code fills the table ---- */

/* The JVM in use; NULL until heddle_jvm_start() has succeeded. */
extern JavaVM *heddle_vm;

/*
 * Returns NCCL_SUCCESS, or another result after logging the reason. Not thread-safe: core.c calls it with a lock held.
 */
int heddle_jvm_start(struct heddle_host *host, struct heddle_calls *calls);

/* ---- got_slots.c: replaces functions that one library calls ---- */

struct heddle_got_slot {
  const char *name;     /* name of the function that the library calls */
  const void *function; /* function called instead, by this library alone */
};

/*
 * Replaces functions that a library calls. library: its handle from dlopen(). Returns the number of slots replaced, or
 * 0 if one can't be replaced.
 */
int heddle_got_replace(void *library, const struct heddle_got_slot *replacements, int count);
/* Opens a library beside libjvm.so. Returns NULL if there is none. jvm: real path of libjvm.so, which is loaded. */
void *heddle_library_of_java(const char *jvm, const char *name);

/* ---- java_tool_options.c: hides options in the environment that are for other Java programs ---- */

struct heddle_tool_options {
  char text[64]; /* names of the variables, separated by commas; may be empty */
};

/*
 * The thread that creates the JVM calls the first function before the creation, and the second after it. jvm: libjvm,
 * from dlopen(). Logs the names of hidden variables.
 */
void heddle_tool_options_hide(void *jvm);
void heddle_tool_options_show(void);
/* Returns the variables that could not be hidden from the JVM, for the warning after a failed start. */
struct heddle_tool_options heddle_tool_options_in_effect(void);

/*
 * ---- java_library_hooks.c: keeps Java's descriptors above 2, reads classes from memory, replaces a removed folder
 * ----
 */

/*
 * Called by the thread that creates the JVM. jvm_library: libjvm, from dlopen(); jvm: its real path; jar_path: the path
 * by which Java opens the jar.
 */
void heddle_java_library_hooks_install(void *jvm_library, const char *jvm, const char *jar_path);

/* ---- locale_guard.c: keeps the process's locale while Java starts ---- */

/*
 * The thread that creates the JVM calls the first function before the creation, and the second after it. jvm: real path
 * of libjvm.so, which is loaded.
 */
void heddle_locale_keep(const char *jvm);
void heddle_locale_restore(void);

/* ---- functions that Java calls by address, because they are faster in C ---- */

/*
 * None of these functions blocks. All have the same signature, since each further signature delays the start by two
 * milliseconds.
 */
typedef int64_t (*heddle_critical_call)(int64_t, int64_t, int64_t, int64_t, int64_t);

/* ---- packets.c: rows, which are consecutive WRITE ONLY packets of equal length ---- */

/* Expected header fields of a row (consecutive WRITE ONLY packets of equal length). Java writes them. */
struct heddle_row {
  uint64_t first_word;           /* first bytes of the base transport header, in the processor's byte order */
  uint64_t number;               /* sequence number of the first packet, in the low 24 bits */
  uint64_t key;                  /* remote key, in the low 32 bits */
  uint64_t region, region_bytes; /* memory that the key permits writing */
};

struct heddle_packet_calls {
  /*
   * (packet, count, payload, payload_bytes, front): builds `count` successive packets of opcode RDMA WRITE Only. The
   * first packet's headers are at `packet`; the other packets' headers are derived from them. Behind its headers, each
   * packet gets the next `payload_bytes` bytes of `payload` (a multiple of 256, not 0) and the ICRC. The ICRC is the
   * CRC-32 of headers and payload, XOR `front`, the contribution of addresses and ports.
   */
  heddle_critical_call seal;
  /*
   * (packet, stride, count, front, row): accepts successive packets of opcode RDMA WRITE Only, as long as each matches
   * `row` and has a correct CRC. The packets are `stride` bytes apart, and each payload has `stride` minus 32 bytes (a
   * multiple of 256, not 0). Bytes of other packets are never placed. Ends after a packet that requests an
   * acknowledgement. Returns the number of packets accepted (bits 0 to 31), the newest tag other than 0 (bits 32 to 38;
   * PacketFormat.java), and whether an acknowledgement was requested (bit 40).
   */
  heddle_critical_call take;
};

/*
 * Returns the nth variant among those whose instructions this processor has, the fastest first. Returns NULLs after the
 * last.
 */
struct heddle_packet_calls heddle_packet_calls(int nth);

/* ---- socket_calls.c: system calls of the data path; each returns its result or the negated errno ---- */

struct heddle_socket_calls {
  /*
   * (socket, address, bytes, segment, 0): sends to the connected peer. If segment isn't 0, sends datagrams of segment
   * bytes (UDP_SEGMENT), the last of which may be shorter. Returns the bytes sent.
   */
  heddle_critical_call send;
  /* (socket, mmsghdrs, count, 0, 0): recvmmsg(2). Returns the messages received. */
  heddle_critical_call receive;
  /* (epoll, events, most, 0, 0): epoll_wait(2). Returns the events written. */
  heddle_critical_call ready;
  /*
   * (pipe's write end, its read end, socket, address, bytes): sends these bytes on a connected socket without a copy,
   * by passing their pages through an empty pipe. Returns 0 on success, or -ENOSPC if the pipe doesn't take that many
   * pages. Returns -EIO if not all bytes were sent, or another negated errno; bytes may then be left in the pipe.
   */
  heddle_critical_call send_pages;
};

extern const struct heddle_socket_calls heddle_socket_calls;

/* ---- java_entry.c: finds PluginEntry by JNI and calls start ---- */

/*
 * own_jvm: true if the shim created the JVM, whose class path has the jar; otherwise the jar gets its own class loader.
 * After a failure, logs the reason and returns false.
 */
bool heddle_java_enter(JNIEnv *env, bool own_jvm, const char *jar, struct heddle_host *host,
                       struct heddle_calls *calls);

/* ---- core.c: one implementation for all versions, with the widest types ---- */

/* traffic_class: -1 if undefined. abi: version of the interface, 6 to 12. */
int heddle_init(int abi, uint64_t comm_id, int traffic_class, nccl_logger logger, void **context);
int heddle_finalize(void *context);
nccl_devices heddle_devices;
int heddle_get_properties(int device, struct heddle_properties *properties);
nccl_listen_v11 heddle_listen;
int heddle_connect(void *context, int device, int traffic_class, void *handle, void **comm);
nccl_accept_v6 heddle_accept;
nccl_reg_v8 heddle_reg;
nccl_reg_dma_buf heddle_reg_dma_buf;
nccl_dereg heddle_dereg;
nccl_isend_v9 heddle_isend;
nccl_irecv_v9 heddle_irecv;
nccl_iflush heddle_iflush;
nccl_test heddle_test;
nccl_close heddle_close_send;
nccl_close heddle_close_receive;
nccl_close heddle_close_listen;

/*
 * Waits until nothing has been in flight for quiet_ns, at most budget_ns. A process that ends calls this on a separate
 * thread.
 */
void heddle_flush_before_exit(int64_t budget_ns, int64_t quiet_ns);
/* Returns whether the JVM has ended or is about to end. If so, no thread may enter it any more. */
bool heddle_jvm_has_ended(void);

/*
 * Writes the shares of the planes that carry a send. Returns the number of planes, or 0 if Java doesn't know the planes
 * at this moment.
 */
int heddle_planes_of(struct heddle_request *request, struct heddle_plane_bytes planes[HEDDLE_MAX_PLANES]);

/* ---- one_sided.c: the one-sided interface, for all its versions, with the widest types ---- */

struct heddle_contexts;
/* Defined in adapter_v12.c. */
int heddle_get_properties_v12(int device, struct nccl_properties_v12 *properties);
int heddle_group_init(void **context, uint64_t comm_id, nccl_logger logger);
int heddle_group_get_properties(int device, struct nccl_properties_v12 *properties);
int heddle_group_listen(void *context, int device, void *handle, void **listener);
int heddle_group_connect(void *context, void *handles[], int ranks, int rank, void *listener, void **comm);
int heddle_group_contexts(void *comm, int count, int traffic_class, int rank_stride, void **contexts);
int heddle_group_destroy_contexts(void *contexts);
int heddle_group_reg(void *comm, void *data, size_t size, int type, uint64_t flags, void **handle);
int heddle_group_reg_dma_buf(void *comm, void *data, size_t size, int type, uint64_t offset, int fd, uint64_t flags,
                             void **handle);
int heddle_group_dereg(void *comm, void *handle);
int heddle_group_close(void *comm);
int heddle_group_close_listen(void *listener);
nccl_put_v13 heddle_group_put;
nccl_get_v13 heddle_group_get;
nccl_put_signal_v14 heddle_group_put_signal;
int heddle_group_flush(void *contexts, int context, void *handle, uint32_t rank, void **request);
int heddle_group_test(void *comm, void *request, int *done);
int heddle_group_progress(void *contexts);
int heddle_group_last_error(void *contexts, bool *failed);

/* Functions of core.c that the other files call. */
int heddle_manage(enum heddle_manage what, const int64_t arguments[5]);
/* Calls heddle_manage() on one of the shim's threads. */
int heddle_manage_on_own_thread(enum heddle_manage what, const int64_t arguments[5]);
/* Both macros pass 0 for omitted arguments. In a forked child, CONTROL evaluates no argument. */
#define MANAGE(what, ...) heddle_manage(what, (int64_t[5]){__VA_ARGS__})
#define CONTROL(what, ...) \
  (UNLIKELY(heddle_in_forked_child) ? heddle_refuse_in_child() \
                                    : heddle_manage_on_own_thread(what, (int64_t[5]){__VA_ARGS__}))
static inline int64_t as_int(const void *pointer) { return (int64_t)(intptr_t)pointer; }
static inline int64_t java_id(const void *comm) { return ((const struct heddle_comm *)comm)->java_id; }
int heddle_progress(struct heddle_comm *comm);

/* ---- profile.c: reports messages and planes to NCCL's profiler (include/heddle_profiler.h) ---- */

/* Callback of NCCL's profiler; NULL until an interface version with a profiler has set it. */
extern nccl_profiler heddle_profiler;
/* Called when a send is accepted. parent: NCCL's handle for the send. */
void heddle_profile_send(struct heddle_request *request, size_t size, int tag, void *parent);
/* Called for a request with a profile. ended: the request is finished, and not yet returned to Java. */
void heddle_profile_tested(struct heddle_request *request, bool ended);
/* Ends all open events of a communicator. */
void heddle_profile_closed(struct heddle_comm *comm);

/* ---- old_versions.c: functions that several old versions share ---- */

nccl_listen_v6 heddle_listen_v6;
nccl_connect_v7 heddle_connect_v7;
nccl_accept_v7 heddle_accept_v7;
nccl_reg_v6 heddle_reg_v6;
nccl_isend_v6 heddle_isend_v6;
nccl_isend_v10 heddle_isend_v10;
nccl_irecv_v6 heddle_irecv_v6;
nccl_irecv_v10 heddle_irecv_v10;
nccl_connect_v11 heddle_connect_v11;

/* Returns a property's value as the int that NCCL stores. Values out of range become INT_MAX or INT_MIN. */
static inline int heddle_clamp(int64_t value) {
  return value > INT_MAX ? INT_MAX : value < INT_MIN ? INT_MIN : (int)value;
}

#endif
