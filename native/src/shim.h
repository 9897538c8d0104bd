/*
 * What the files of the shim know of each other. Each section is one file.
 *
 * Life of the shim: NCCL loads it (nothing runs), calls init of the newest table that it knows; core.c has jvm_start.c
 * find or make a virtual machine and lets Java fill the table of java_calls.h; afterwards every call of NCCL goes
 * adapter_vN.c -> core.c -> Java. The library is linked so that it is never unloaded: a process can have a virtual
 * machine only once.
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

/* ---- log.c: NCCL's logger, or standard error for warnings as long as none is known ---- */

void heddle_log_to(nccl_logger logger);
void heddle_log(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The form that Java calls: one finished sentence. */
void heddle_log_sentence(int64_t level, const char *sentence);

/* ---- fork_guard.c: neither the virtual machine nor verbs survive in a forked child, so nothing of ours runs there ---- */

extern bool heddle_in_forked_child;
/* Descriptors that a child closes; NULL before the guard is installed, and where there is no memory for it. */
extern struct heddle_descriptors *heddle_descriptors;
void heddle_fork_guard_install(void);
int heddle_refuse_in_child(void);

/* ---- exit_flush.c: what the process was given to send reaches the peers before it ends ---- */

/* After a successful init. */
void heddle_exit_flush_install(void);
/* There is a connection; once more the first time, so that the handler comes before those registered meanwhile. */
void heddle_exit_flush_connected(void);

/* ---- threads.c: threads that move data become Java threads once, after a look at their stack ---- */

/* The owner of the code that a thread runs, and so of a fault there. */
enum heddle_owner {
  HEDDLE_UNKNOWN, /* a thread that the shim never attached: Java's own, or of the host's */
  HEDDLE_HOST,    /* attached, and outside Java */
  HEDDLE_JAVA,    /* inside Java, or a thread of ours */
};

/* Initial-exec, since a signal handler reads it and must not allocate. */
struct heddle_thread {
  uintptr_t lowest_frame; /* calls from below it have too little stack for Java; before the attach, all */
  int runs;               /* enum heddle_owner */
  int outside;            /* what it is outside Java */
  unsigned until_check;   /* entries before heddle_thread_check() */
  int watched;            /* entries that all look */
  unsigned checks;
  bool warned; /* of too little stack */
};
extern _Thread_local struct heddle_thread heddle_thread __attribute__((tls_model("initial-exec")));

/* Attaches the calling thread, or logs why it may not enter. */
int heddle_attach_thread(void);
int heddle_refuse_before_init(void);
/* Of a thread of ours: all that it does is Java's. */
void heddle_thread_is_javas(void);
/* Undoes changes of the host's since the last look: of the thread's signal mask and, more seldom, of the handlers. */
void heddle_thread_check(void);

/* Before anything that enters Java. */
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

/* The value of an upcall; a fault meanwhile is Java's. */
#define IN_JAVA(upcall) \
  __extension__({ \
    heddle_thread.runs = HEDDLE_JAVA; \
    int of_upcall = (upcall); \
    heddle_thread.runs = heddle_thread.outside; \
    of_upcall; \
  })

/* ---- control_calls.c: calls of the control path, on threads of ours ---- */

/* Has a thread of ours call, and waits for the result. */
int heddle_control(int (*call)(void *), void *argument);
/* Contexts come (1) and go (-1); without any, no thread of ours waits for a call. */
void heddle_control_contexts(int more);

/* ---- signals.c: the virtual machine's faults are its own, all others the host's ---- */

/* Java's fault handler, JVM_handle_linux_signal of libjvm. */
typedef int (*heddle_jvm_handler)(int signal_number, void *info, void *user_context, int abort_if_unrecognized);

/* The machine of the host; its handlers are in place. handle: NULL where it has none. */
void heddle_signals_join(heddle_jvm_handler handle);
/*
 * Before the creation of a machine of ours: puts our handlers in front of the host's, and notes all dispositions. False:
 * the machine has to install its own.
 */
bool heddle_signals_before_creation(heddle_jvm_handler handle);
/* Afterwards: all other dispositions become the host's again. Without a machine, all do. */
void heddle_signals_after_creation(bool created);
/* Where Java writes what it knows about a fault of its own; kept. */
void heddle_signals_report_in(const char *path);
/* Looks at the current handlers and puts ours in front again; four system calls. */
void heddle_signals_refresh(void);

/* ---- fault_report.c: where Java writes about its own faults ---- */

#define HEDDLE_FAULT_REPORT_BYTES (PATH_MAX + 64)
/* The machine's option. */
void heddle_fault_report(char option[HEDDLE_FAULT_REPORT_BYTES]);

/* ---- jvm_find.c: which libjvm.so ---- */

struct heddle_jvm_choice {
  char library[PATH_MAX]; /* real path of libjvm.so */
  char home[PATH_MAX];
  char source[64];     /* what named it: a variable or a kind of folder */
  char version[32];    /* JAVA_VERSION of its release file, or "unknown" */
  char rejected[1024]; /* what was looked at before and why it wasn't taken; may be empty */
};

/* plugin_folder: where the .so lies. False: choice->rejected says why there is none. */
bool heddle_jvm_find(const char *plugin_folder, struct heddle_jvm_choice *choice);

/* ---- start_limits.c: what a start takes of threads, memory and descriptors, tried before ---- */

/* False: a line of the log names the limit and the number. */
bool heddle_start_has_descriptors(void);
/* Of threads and memory, for a machine that isn't there yet. By a thread that takes no signals, as those that it makes. */
bool heddle_start_has_threads_and_memory(void);
struct heddle_thread_limits {
  char text[256];
};

/* As the shell and the control group have them. */
struct heddle_thread_limits heddle_thread_limits(void);
/* The same as the end of a sentence, where Java's words are about a thread that was refused; else nothing. */
struct heddle_thread_limits heddle_thread_limits_suffix(const char *words);
/* Logs that a thread was refused, with the limits. had: how many there were before; error: of pthread_create. */
void heddle_log_missing_threads(int had, int error);

/* ---- java_preflight.c: what would end the process in the middle of Java's start, tried before ---- */

/* False: a line of the log names the cause and the remedy. For a machine that isn't there yet. */
bool heddle_java_may_run(void);

/* ---- jvm_start.c: makes the machine or joins one, loads the jar, has Java fill the table ---- */

/* The machine in use; NULL until heddle_jvm_start() succeeded. */
extern JavaVM *heddle_vm;

/* Not thread-safe: core.c holds its lock. Logs the reason of a failure. */
int heddle_jvm_start(struct heddle_host *host, struct heddle_calls *calls);

/* ---- got_slots.c: functions of ours in place of those that one library calls ---- */

struct heddle_got_slot {
  const char *name;     /* of the function that the library calls */
  const void *function; /* called instead, by this library alone */
};

/* library: of dlopen(). How many slots were pointed elsewhere; 0 also where one can't be. */
int heddle_got_replace(void *library, const struct heddle_got_slot *replacements, int count);
/* A library beside libjvm.so, opened; NULL where there is none. jvm: real path of libjvm.so, loaded, so that its kin is found. */
void *heddle_library_of_java(const char *jvm, const char *name);

/* ---- java_tool_options.c: options in the environment that are for other Java programs ---- */

struct heddle_tool_options {
  char text[64]; /* their names with commas, or nothing */
};

/* By the thread that makes the machine, before and after. jvm: libjvm, of dlopen(). Logs which there are. */
void heddle_tool_options_hide(void *jvm);
void heddle_tool_options_show(void);
/* Those that a machine obeys all the same; for a refusal. */
struct heddle_tool_options heddle_tool_options_obeyed(void);

/* ---- java_library_hooks.c: Java's files have no number below 3, classes outlive their files, and it has a working directory ---- */

/* By the thread that makes the machine. jvm_library: libjvm, of dlopen(); jvm: its real path; jar_path: as Java has it. */
void heddle_java_library_hooks_install(void *jvm_library, const char *jvm, const char *jar_path);

/* ---- locale_guard.c: the process's locale stays the host's while Java starts ---- */

/* By the thread that makes the machine, before and after. jvm: real path of libjvm.so, which is loaded. */
void heddle_locale_keep(const char *jvm);
void heddle_locale_restore(void);

/* ---- what Java calls by address, since it is quicker here ---- */

/* None waits. All have one shape, since each further one costs the start two milliseconds. */
typedef int64_t (*heddle_critical_call)(int64_t, int64_t, int64_t, int64_t, int64_t);

/* ---- packets.c: rows of packets ---- */

/* What the packets of a row must say; Java writes it. */
struct heddle_row {
  uint64_t first_word;           /* of the base transport header, in the processor's order */
  uint64_t number;               /* of the first packet, in the low 24 bits */
  uint64_t key;                  /* in the low 32 bits */
  uint64_t region, region_bytes; /* that this key allows to write */
};

struct heddle_packet_calls {
  /*
   * (packet, count, payload, payload_bytes, front): makes a row of WRITE ONLY packets. The first one's headers lie at packet;
   * the others get theirs from it. Behind each packet's headers come the next payload_bytes (a multiple of 256, not 0), and
   * behind these the CRC-32 of both with front on top.
   */
  heddle_critical_call seal;
  /*
   * (packet, stride, count, front, row): takes WRITE ONLY packets that lie stride bytes apart, each with a payload of stride
   * - 32 bytes (a multiple of 256, not 0), while each is what row expects and its CRC is right; only then are its bytes
   * placed. Ends behind a packet that asks for an acknowledgement. Returns the number of packets taken, from bit 32 on the
   * newest tag other than 0, and in bit 40 whether an acknowledgement was asked for.
   */
  heddle_critical_call take;
};

/* The nth of those that this processor has the instructions for, the quickest first; NULLs behind the last. */
struct heddle_packet_calls heddle_packet_calls(int nth);

/* ---- socket_calls.c: system calls of the data path; each returns what it does or the negated errno ---- */

struct heddle_socket_calls {
  /*
   * (socket, address, bytes, segment, 0): sends to where the socket is connected; where segment is not 0, in datagrams of
   * that many bytes, of which the last may be shorter (UDP_SEGMENT). Bytes sent.
   */
  heddle_critical_call send;
  /* (socket, mmsghdrs, count, 0, 0): recvmmsg(2). Messages received. */
  heddle_critical_call receive;
  /* (epoll, events, most, 0, 0): epoll_wait(2). Events written. */
  heddle_critical_call ready;
  /*
   * (pipe's writing end, its reading end, socket, address, bytes): has a connected socket send these bytes by their own
   * pages, through a pipe that is empty. 0; or ENOSPC where the pipe doesn't take so many pages, EIO where not all left, or
   * another errno: then something may be left in the pipe.
   */
  heddle_critical_call lend;
};

extern const struct heddle_socket_calls heddle_socket_calls;

/* ---- java_entry.c: finds PluginEntry by JNI and calls start ---- */

/* own_machine: the class path is ours; otherwise the jar gets a class loader of its own. False: logged. */
bool heddle_java_enter(JNIEnv *env, bool own_machine, const char *jar, struct heddle_host *host,
                       struct heddle_calls *calls);

/* ---- core.c: one implementation for all versions, with the widest types ---- */

/* traffic_class -1: undefined. abi: 6 to 12. */
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
 * Waits until nothing has been under way for quiet_ns, budget_ns at most; for a process that ends, on a thread of its own.
 */
void heddle_flush_before_exit(int64_t budget_ns, int64_t quiet_ns);
/* The Java machine has ended, or is about to: nobody may enter it any more. */
bool heddle_machine_has_ended(void);

/* How a send's bytes lie over the planes; 0 where that can't be told at this moment. */
int heddle_planes_of(struct heddle_request *request, struct heddle_plane_bytes planes[HEDDLE_MAX_PLANES]);

/* ---- one_sided.c: the one-sided interface, for all its versions, with the widest types ---- */

struct heddle_contexts;
/* adapter_v12.c */
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

/* What core.c has for others. */
int heddle_manage(enum heddle_manage what, const int64_t arguments[5]);
/* The same on a thread of ours. */
int heddle_manage_on_own_thread(enum heddle_manage what, const int64_t arguments[5]);
/* Both with 0 for the arguments that aren't named; in a forked child none is looked at. */
#define MANAGE(what, ...) heddle_manage(what, (int64_t[5]){__VA_ARGS__})
#define CONTROL(what, ...) \
  (UNLIKELY(heddle_in_forked_child) ? heddle_refuse_in_child() \
                                    : heddle_manage_on_own_thread(what, (int64_t[5]){__VA_ARGS__}))
static inline int64_t as_int(const void *pointer) { return (int64_t)(intptr_t)pointer; }
static inline int64_t java_id(const void *comm) { return ((const struct heddle_comm *)comm)->java_id; }
int heddle_progress(struct heddle_comm *comm);

/* ---- profile.c: what NCCL's profiler hears of messages and planes (include/heddle_profiler.h) ---- */

/* NULL until a version of the interface that has one gave it. */
extern nccl_profiler heddle_profiler;
/* A send was accepted. parent: NCCL's handle for it. */
void heddle_profile_send(struct heddle_request *request, size_t size, int tag, void *parent);
/* For a request that has a profile; ended: it is finished, and not yet Java's again. */
void heddle_profile_tested(struct heddle_request *request, bool ended);
/* Ends what is still under way. */
void heddle_profile_closed(struct heddle_comm *comm);

/* ---- old_versions.c: forms that several old versions share ---- */

nccl_listen_v6 heddle_listen_v6;
nccl_connect_v7 heddle_connect_v7;
nccl_accept_v7 heddle_accept_v7;
nccl_reg_v6 heddle_reg_v6;
nccl_isend_v6 heddle_isend_v6;
nccl_isend_v10 heddle_isend_v10;
nccl_irecv_v6 heddle_irecv_v6;
nccl_irecv_v10 heddle_irecv_v10;
nccl_connect_v11 heddle_connect_v11;

/* NCCL stores these as int; what is larger becomes INT_MAX. */
static inline int heddle_clamp(int64_t value) {
  return value > INT_MAX ? INT_MAX : value < INT_MIN ? INT_MIN : (int)value;
}

#endif
