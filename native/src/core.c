#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "commit.h"
#include "shim.h"

/*
 * A test() of a pending request enters Java only if it begins a sweep over the comm's requests. A sweep begins when the
 * request that began the last sweep is tested again. If the caller stops testing that request, the next sweep begins
 * after this many tests, which are answered from memory. 32 such tests take as long as two entries into Java.
 */
#define MOST_SKIPPED_TESTS 32

/*
 * Largest number of consecutive sweeps that don't enter Java. A limit is needed since some events that concern a comm
 * aren't counted in its struct heddle_comm.
 */
#define MOST_SKIPPED_SWEEPS 15

_Static_assert(sizeof(struct heddle_request) == 64 && sizeof(struct heddle_comm) == 64, "one cache line each");

static struct heddle_host host;
static struct heddle_calls calls;

int heddle_manage(enum heddle_manage what, const int64_t arguments[5]) {
  return IN_JAVA(calls.manage(what, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]));
}

struct managed_call {
  enum heddle_manage what;
  const int64_t *arguments;
};

static int manage(void *argument) {
  const struct managed_call *call = argument;
  return heddle_manage(call->what, call->arguments);
}

int heddle_manage_on_own_thread(enum heddle_manage what, const int64_t arguments[5]) {
  struct managed_call call = {.what = what, .arguments = arguments};
  return heddle_control(manage, &call);
}

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static bool started;

/*
 * Prefix and commit are one string, so that `heddle version` finds the commit in the library's file without loading it.
 */
#define BEFORE_COMMIT "heddle commit "
static const char COMMIT[] = BEFORE_COMMIT HEDDLE_COMMIT;

static bool fill_host(int abi) {
  static char library[PATH_MAX];
  Dl_info where;
  if (dladdr(&host, &where) == 0 || realpath(where.dli_fname, library) == NULL) {
    heddle_log(NCCL_LOG_WARN, "can't find the path of the plugin's library: %s", strerror(errno));
    return false;
  }
  host = (struct heddle_host){
      .size = sizeof(struct heddle_host),
      .table_version = HEDDLE_TABLE_VERSION,
      .abi_version = (uint64_t)abi,
      .log = heddle_log_sentence,
      .library_path = library,
      .commit = COMMIT + sizeof BEFORE_COMMIT - 1,
      .sizeof_request = sizeof(struct heddle_request),
      .sizeof_comm = sizeof(struct heddle_comm),
      .sizeof_properties = sizeof(struct heddle_properties),
      .sizeof_calls = sizeof(struct heddle_calls),
      .offsetof_request_sizes = offsetof(struct heddle_request, sizes),
      .offsetof_request_comm = offsetof(struct heddle_request, comm),
      .offsetof_request_java_id = offsetof(struct heddle_request, java_id),
      .sizeof_plane_bytes = sizeof(struct heddle_plane_bytes),
      .offsetof_comm_events = offsetof(struct heddle_comm, events),
      .offsetof_comm_polls = offsetof(struct heddle_comm, polls),
      .offsetof_comm_polls_seen = offsetof(struct heddle_comm, polls_seen),
      .descriptors = heddle_descriptors,
  };
  calls.size = sizeof calls;
  return true;
}

static int start(int abi) {
  pthread_mutex_lock(&start_lock);
  int result = NCCL_SUCCESS;
  if (!started) {
    heddle_fork_guard_install();
    result = fill_host(abi) ? heddle_jvm_start(&host, &calls) : NCCL_SYSTEM_ERROR;
    started = result == NCCL_SUCCESS;
    if (started) {
      heddle_exit_flush_install();
    }
  }
  pthread_mutex_unlock(&start_lock);
  return result;
}

bool heddle_jvm_has_ended(void) { return __atomic_load_n(&calls.jvm_ended, __ATOMIC_ACQUIRE) != 0; }

void heddle_flush_before_exit(int64_t budget_ns, int64_t quiet_ns) {
  heddle_mark_java_thread();
  heddle_signals_refresh(); /* a host that ends may have removed all signal handlers, the shim's included */
  /* heddle_enter() has logged a failure; there is no caller to return the result to. */
  if (heddle_enter() == NCCL_SUCCESS) {
    MANAGE(HEDDLE_FLUSH_BEFORE_EXIT, budget_ns, quiet_ns);
  }
}

static void *as_pointer(int64_t id) { return (void *)(intptr_t)id; }

int heddle_init(int abi, uint64_t comm_id, int traffic_class, nccl_logger logger, void **context) {
  if (heddle_in_forked_child) {
    return heddle_refuse_in_child();
  }
  heddle_log_to(logger);
  int result = start(abi);
  if (result != NCCL_SUCCESS) {
    return result;
  }
  int64_t id = 0;
  heddle_signals_refresh();
  result = CONTROL(HEDDLE_INIT, (int64_t)comm_id, traffic_class, as_int(&id));
  if (result == NCCL_SUCCESS) {
    heddle_control_contexts(1);
    if (context != NULL) {
      *context = as_pointer(id);
    }
  }
  return result;
}

int heddle_finalize(void *context) {
  heddle_signals_refresh();
  int result = CONTROL(HEDDLE_FINALIZE, as_int(context));
  if (result == NCCL_SUCCESS) {
    heddle_control_contexts(-1);
  }
  return result;
}

int heddle_devices(int *count) {
  int64_t found = 0;
  int result = CONTROL(HEDDLE_DEVICES, as_int(&found));
  *count = result == NCCL_SUCCESS ? (int)found : 0;
  return result;
}

int heddle_get_properties(int device, struct heddle_properties *properties) {
  memset(properties, 0, sizeof *properties);
  return CONTROL(HEDDLE_GET_PROPERTIES, device, as_int(properties));
}

int heddle_listen(void *context, int device, void *handle, void **listen_comm) {
  heddle_signals_refresh();
  int64_t id = 0;
  int result = CONTROL(HEDDLE_LISTEN, as_int(context), device, as_int(handle), as_int(&id));
  *listen_comm = as_pointer(id);
  return result;
}

int heddle_connect(void *context, int device, int traffic_class, void *handle, void **comm) {
  *comm = NULL;
  int64_t address = 0;
  int result = CONTROL(HEDDLE_CONNECT, as_int(context), device, traffic_class, as_int(handle), as_int(&address));
  if (result == NCCL_SUCCESS && address != 0) {
    heddle_exit_flush_connected();
    /* not at each call: NCCL repeats the call some 10,000 times until the connection is ready */
    heddle_signals_refresh();
    *comm = as_pointer(address);
  }
  return result;
}

int heddle_accept(void *listen_comm, void **comm) {
  *comm = NULL;
  int64_t address = 0;
  int result = CONTROL(HEDDLE_ACCEPT, as_int(listen_comm), as_int(&address));
  if (result == NCCL_SUCCESS && address != 0) {
    heddle_exit_flush_connected();
    heddle_signals_refresh();
    *comm = as_pointer(address);
  }
  return result;
}

int heddle_reg(void *comm, void *data, size_t size, int type, void **handle) {
  heddle_signals_refresh();
  int64_t id = 0;
  int result = CONTROL(HEDDLE_REGISTER_MEMORY, java_id(comm), as_int(data), (int64_t)size, type, as_int(&id));
  *handle = as_pointer(id);
  return result;
}

static int register_dma_buf(void *argument) {
  const int64_t *of = argument;
  return IN_JAVA(calls.register_dma_buf(of[0], of[1], of[2], of[3], of[4], of[5], of[6]));
}

int heddle_reg_dma_buf(void *comm, void *data, size_t size, int type, uint64_t offset, int fd, void **handle) {
  if (heddle_in_forked_child) {
    return heddle_refuse_in_child();
  }
  heddle_signals_refresh();
  int64_t id = 0;
  int64_t arguments[] = {java_id(comm), as_int(data), (int64_t)size, type, (int64_t)offset, fd, as_int(&id)};
  int result = heddle_control(register_dma_buf, arguments);
  *handle = as_pointer(id);
  return result;
}

int heddle_dereg(void *comm, void *handle) {
  heddle_signals_refresh();
  return CONTROL(HEDDLE_DEREGISTER_MEMORY, java_id(comm), as_int(handle));
}

/*
 * The three functions below set *request to NULL unless they return a request: NCCL doesn't clear *request, which may
 * hold NCCL's hint 0x1.
 */

int heddle_isend(void *comm, void *data, size_t size, int tag, void *handle, void **request) {
  *request = NULL;
  int result = heddle_enter();
  if (UNLIKELY(result != NCCL_SUCCESS)) {
    return result;
  }
  return IN_JAVA(calls.isend(java_id(comm), as_int(data), (int64_t)size, tag, as_int(handle), as_int(request)));
}

int heddle_irecv(void *comm, int n, void **data, size_t *sizes, int *tags, void **handles, void **request) {
  _Static_assert(sizeof(size_t) == 8 && sizeof(int) == 4, "Java reads sizes as 64-bit and tags as 32-bit integers");
  *request = NULL; /* clears 0x1, NCCL's hint that confirmation is optional: the plugin always confirms */
  int result = heddle_enter();
  if (UNLIKELY(result != NCCL_SUCCESS)) {
    return result;
  }
  if (UNLIKELY(n < 1 || n > HEDDLE_MAX_RECEIVES)) {
    heddle_log(NCCL_LOG_WARN, "irecv of %d buffers in one call; 1 to %d are supported", n, HEDDLE_MAX_RECEIVES);
    return NCCL_INVALID_ARGUMENT;
  }
  return IN_JAVA(
      calls.irecv(java_id(comm), n, as_int(data), as_int(sizes), as_int(tags), as_int(handles), as_int(request)));
}

int heddle_iflush(void *comm, int n, void **data, int *sizes, void **handles, void **request) {
  *request = NULL;
  int result = heddle_enter();
  if (UNLIKELY(result != NCCL_SUCCESS)) {
    return result;
  }
  return IN_JAVA(calls.iflush(java_id(comm), n, as_int(data), as_int(sizes), as_int(handles), as_int(request)));
}

static int32_t state_of(struct heddle_request *request) {
  /* pairs with Java's release store after Java has written the sizes */
  return __atomic_load_n(&request->state, __ATOMIC_ACQUIRE);
}

/*
 * Returns true if this test() begins a sweep (a round of tests over the comm's requests), which may enter Java. Only
 * the thread that tests this comm's requests writes the comm's sweep fields.
 */
static bool begins_sweep(struct heddle_comm *comm, struct heddle_request *request) {
  if (comm->sweep_marker == NULL || comm->sweep_marker == request || comm->pending_tests >= MOST_SKIPPED_TESTS) {
    comm->sweep_marker = request;
    comm->pending_tests = 0;
    return true;
  }
  comm->pending_tests++;
  return false;
}

/*
 * Returns true if a sweep (a round of tests over the comm's requests) has to enter Java. That is so if there are new
 * events for this comm, or if the device hasn't been polled since this comm's caller last checked. A poll by any comm
 * counts each event in the struct heddle_comm that the event concerns.
 */
static bool is_worth_entering(struct heddle_comm *comm) {
  const int64_t *polls = comm->polls;
  if (polls == NULL) {
    return true;
  }
  int64_t newest =
      /* pairs with Java's release store after Java has counted a poll's events */
      __atomic_load_n(polls, __ATOMIC_ACQUIRE);
  int64_t events = __atomic_load_n(&comm->events, __ATOMIC_RELAXED);
  if (events != comm->events_seen || newest == comm->polls_seen || comm->skipped_sweeps >= MOST_SKIPPED_SWEEPS) {
    comm->events_seen = events;
    comm->skipped_sweeps = 0;
    return true;
  }
  comm->polls_seen = newest;
  comm->skipped_sweeps++;
  return false;
}

int heddle_progress(struct heddle_comm *comm) {
  int result = heddle_enter();
  if (UNLIKELY(result != NCCL_SUCCESS)) {
    return result;
  }
  return IN_JAVA(calls.progress(comm->java_id));
}

int heddle_planes_of(struct heddle_request *request, struct heddle_plane_bytes planes[HEDDLE_MAX_PLANES]) {
  int64_t count = 0;
  int result = heddle_enter();
  if (result == NCCL_SUCCESS) {
    result = MANAGE(HEDDLE_PLANES_OF, request->comm->java_id, as_int(request), as_int(planes), as_int(&count));
  }
  return result == NCCL_SUCCESS ? (int)count : 0;
}

/*
 * The next two functions are separate, so that a test() of a pending request, by far the most frequent case, saves no
 * registers.
 */

__attribute__((noinline)) static int answer_test(struct heddle_request *request, int32_t state, int *done, int *sizes) {
  if (UNLIKELY(state == HEDDLE_REQUEST_RELEASED)) {
    heddle_log(NCCL_LOG_WARN, "test() of a request that is finished already");
    return NCCL_INVALID_USAGE;
  }
  if (state == HEDDLE_REQUEST_DONE) {
    *done = 1;
    if (sizes != NULL) {
      /*
       * Copies only request->count sizes, since the caller's array may be longer and NCCL adds up all of its elements.
       */
      memcpy(sizes, request->sizes, (size_t)request->count * sizeof sizes[0]);
    }
  }
  if (UNLIKELY(request->profile != NULL)) {
    heddle_profile_tested(request, true);
  }
  if (request->comm->sweep_marker == request) {
    request->comm->sweep_marker = NULL; /* a finished request isn't tested again, so it can't begin the next sweep */
  }
  /* From here on, Java owns the request. Pairs with Java's acquire load in its search for a free request. */
  __atomic_store_n(&request->state, HEDDLE_REQUEST_RELEASED, __ATOMIC_RELEASE);
  return state == HEDDLE_REQUEST_DONE ? NCCL_SUCCESS : -state;
}

__attribute__((noinline)) static int progress_and_test(struct heddle_request *request, int *done, int *sizes) {
  int result = heddle_progress(request->comm);
  if (UNLIKELY(result != NCCL_SUCCESS)) {
    return result;
  }
  int32_t state = state_of(request);
  if (state != HEDDLE_REQUEST_PENDING) {
    return answer_test(request, state, done, sizes);
  }
  if (UNLIKELY(request->profile != NULL)) {
    heddle_profile_tested(request, false);
  }
  return NCCL_SUCCESS;
}

int heddle_test(void *opaque, int *done, int *sizes) {
  *done = 0; /* NCCL doesn't initialise it */
  if (UNLIKELY(heddle_in_forked_child)) {
    return heddle_refuse_in_child();
  }
  struct heddle_request *request = opaque;
  int32_t state = state_of(request);
  if (state != HEDDLE_REQUEST_PENDING) {
    return answer_test(request, state, done, sizes);
  }
  struct heddle_comm *comm = request->comm;
  return begins_sweep(comm, request) && is_worth_entering(comm) ? progress_and_test(request, done, sizes)
                                                                : NCCL_SUCCESS;
}

int heddle_close_send(void *comm) {
  if (heddle_in_forked_child) {
    return heddle_refuse_in_child();
  }
  heddle_signals_refresh();
  heddle_profile_closed(comm);
  return CONTROL(HEDDLE_CLOSE_SEND, java_id(comm));
}

int heddle_close_receive(void *comm) {
  heddle_signals_refresh();
  return CONTROL(HEDDLE_CLOSE_RECEIVE, java_id(comm));
}

int heddle_close_listen(void *listen_comm) {
  heddle_signals_refresh();
  return CONTROL(HEDDLE_CLOSE_LISTEN, as_int(listen_comm));
}
