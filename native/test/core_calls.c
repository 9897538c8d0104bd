/*
 * Tests of core.c and the adapters, with a C table in Java's place. They check the conversions between versions, NULL
 * requests, answers of test() from memory, and the number of entries into Java.
 */
#include "harness.h"

#include "../src/shim.h"

/* ---- the table in Java's place ---- */

JavaVM *heddle_vm;
_Thread_local struct heddle_thread heddle_thread __attribute__((tls_model("initial-exec")));
bool heddle_in_forked_child;

static int64_t seen[8];      /* arguments of the latest call into Java */
static size_t seen_sizes[8]; /* sizes of the latest irecv */
static int entries;          /* number of calls of progress */
static int progress_result;
static int32_t call_result;
static int64_t next_request;

static int32_t fake_manage(int64_t what, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) {
  int64_t arguments[] = {a, b, c, d, e};
  memcpy(seen, arguments, sizeof arguments);
  if (what == HEDDLE_INIT) {
    *(int64_t *)(intptr_t)c = 77;
  } else if (what == HEDDLE_CONNECT) {
    *(int64_t *)(intptr_t)e = 0;
  } else if (what == HEDDLE_REGISTER_MEMORY) {
    *(int64_t *)(intptr_t)e = 5;
  } else {
    CHECK(false, "manage was called with %ld", (long)what);
  }
  return call_result;
}

static int32_t fake_isend(int64_t comm, int64_t data, int64_t size, int64_t tag, int64_t handle, int64_t out) {
  int64_t arguments[] = {comm, data, size, tag, handle};
  memcpy(seen, arguments, sizeof arguments);
  if (next_request != 0) {
    *(int64_t *)(intptr_t)out = next_request;
  }
  return call_result;
}

static int32_t fake_irecv(int64_t comm, int64_t n, int64_t data, int64_t sizes, int64_t tags, int64_t handles,
                          int64_t out) {
  int64_t arguments[] = {comm, n, data, sizes, tags, handles};
  memcpy(seen, arguments, sizeof arguments);
  memcpy(seen_sizes, (void *)(intptr_t)sizes, (size_t)n * sizeof(size_t));
  if (next_request != 0) {
    *(int64_t *)(intptr_t)out = next_request;
  }
  return call_result;
}

static int32_t fake_progress(int64_t comm) {
  seen[0] = comm;
  entries++;
  return progress_result;
}

int heddle_jvm_start(struct heddle_host *host, struct heddle_calls *calls) {
  CHECK(host->size == sizeof *host && calls->size == sizeof *calls, "sizes aren't set");
  calls->isend = fake_isend;
  calls->irecv = fake_irecv;
  calls->progress = fake_progress;
  calls->manage = fake_manage;
  return NCCL_SUCCESS;
}

int heddle_attach_thread(void) {
  heddle_thread.lowest_frame = 0;
  return NCCL_SUCCESS;
}

struct heddle_descriptors *heddle_descriptors = NULL;
void heddle_fork_guard_install(void) {}
void heddle_exit_flush_install(void) {}
void heddle_exit_flush_connected(void) {}
int heddle_refuse_in_child(void) { return NCCL_INVALID_USAGE; }
void heddle_signals_refresh(void) {}
void heddle_thread_check(void) {}
void heddle_mark_java_thread(void) {}
void heddle_control_contexts(int more) { (void)more; }
int heddle_control(int (*call)(void *), void *argument) { return call(argument); }

extern const struct nccl_net_v6 ncclNetPlugin_v6;
extern const struct nccl_net_v8 ncclNetPlugin_v8;
extern const struct nccl_net_v9 ncclNetPlugin_v9;
extern const struct nccl_net_v10 ncclNetPlugin_v10;
extern const struct nccl_net_v12 ncclNetPlugin_v12;

/* ---- tests ---- */

static struct heddle_comm comm = {.java_id = 4242};

static struct heddle_request pending_request(void) {
  struct heddle_request request;
  memset(&request, 0, sizeof request);
  request.comm = &comm;
  request.count = 1;
  return request;
}

static void forget_sweep(void) {
  comm.sweep_marker = NULL;
  comm.pending_tests = 0;
  comm.skipped_sweeps = 0;
  entries = 0;
}

static void test_writes_done_even_when_pending(void) {
  forget_sweep();
  struct heddle_request request = pending_request();
  int done = 99;
  int size = 99;
  CHECK(ncclNetPlugin_v12.test(&request, &done, &size) == NCCL_SUCCESS, "test failed");
  CHECK(done == 0 && size == 99, "done %d, size %d", done, size);
  CHECK(entries == 1 && seen[0] == 4242, "Java was entered %d times for comm %ld", entries, (long)seen[0]);
}

static void finished_request_is_answered_without_java(void) {
  forget_sweep();
  struct heddle_request request = pending_request();
  request.count = 3;
  request.sizes[0] = 10;
  request.sizes[1] = 0;
  request.sizes[2] = INT_MAX;
  request.state = HEDDLE_REQUEST_DONE;
  int done = 0;
  int sizes[4] = {-1, -1, -1, -1};
  CHECK(ncclNetPlugin_v12.test(&request, &done, sizes) == NCCL_SUCCESS, "test failed");
  CHECK(done == 1 && sizes[0] == 10 && sizes[1] == 0 && sizes[2] == INT_MAX, "done %d, sizes %d %d %d", done, sizes[0],
        sizes[1], sizes[2]);
  CHECK(sizes[3] == -1, "more sizes were written than there were receives");
  CHECK(entries == 0, "Java was entered %d times", entries);
  CHECK(request.state == HEDDLE_REQUEST_RELEASED, "the request wasn't released");
  CHECK(ncclNetPlugin_v12.test(&request, &done, sizes) == NCCL_INVALID_USAGE && done == 0, "a second test succeeded");
}

static void sizes_may_be_null(void) {
  struct heddle_request request = pending_request();
  request.state = HEDDLE_REQUEST_DONE;
  int done = 0;
  CHECK(ncclNetPlugin_v12.test(&request, &done, NULL) == NCCL_SUCCESS && done == 1, "done %d", done);
}

static void failed_request_gives_its_code_and_is_released(void) {
  struct heddle_request request = pending_request();
  request.state = -NCCL_REMOTE_ERROR;
  int done = 99;
  CHECK(ncclNetPlugin_v12.test(&request, &done, NULL) == NCCL_REMOTE_ERROR && done == 0, "done %d", done);
  CHECK(request.state == HEDDLE_REQUEST_RELEASED, "a failed request wasn't released");
}

static void failed_progress_is_passed_on(void) {
  forget_sweep();
  struct heddle_request request = pending_request();
  progress_result = NCCL_REMOTE_ERROR;
  int done = 99;
  CHECK(ncclNetPlugin_v12.test(&request, &done, NULL) == NCCL_REMOTE_ERROR && done == 0, "done %d", done);
  progress_result = NCCL_SUCCESS;
}

static void one_sweep_enters_java_once(void) {
  forget_sweep();
  struct heddle_request requests[16];
  for (int i = 0; i < 16; i++) {
    requests[i] = pending_request();
  }
  int done;
  for (int sweep = 1; sweep <= 10; sweep++) {
    for (int i = 0; i < 16; i++) {
      CHECK(ncclNetPlugin_v12.test(&requests[i], &done, NULL) == NCCL_SUCCESS, "test failed");
    }
    CHECK(entries == sweep, "%d entries after %d sweeps", entries, sweep);
  }
}

/*
 * Calls test() for the only request of a comm, so each call begins a sweep (core.c). Returns whether the call entered
 * Java.
 */
static bool enters_java(struct heddle_request *request) {
  int done;
  int before = entries;
  CHECK(ncclNetPlugin_v12.test(request, &done, NULL) == NCCL_SUCCESS && done == 0, "test failed");
  return entries != before;
}

static void java_is_not_entered_if_another_thread_polled_and_nothing_arrived(void) {
  int64_t polls = 1;
  forget_sweep();
  comm.polls = &polls;
  struct heddle_request request = pending_request();
  comm.polls_seen = polls;
  CHECK(enters_java(&request), "nobody has polled, and Java wasn't entered");
  polls++;
  CHECK(!enters_java(&request), "another comm has polled, and Java was entered");
  CHECK(enters_java(&request), "nobody has polled since, and Java wasn't entered");
  polls++;
  comm.events++;
  CHECK(enters_java(&request), "there is an event, and Java wasn't entered");
  comm.polls_seen = polls;
  int skipped_sweeps = 0;
  do {
    polls++;
    CHECK(++skipped_sweeps <= 100, "a comm without events never entered Java");
  } while (!enters_java(&request));
  CHECK(skipped_sweeps > 10, "only %d sweeps did not enter Java", skipped_sweeps);
  comm.polls = NULL;
  CHECK(enters_java(&request) && enters_java(&request), "a device without polls wasn't entered");
}

static void finished_marker_does_not_stop_progress(void) {
  forget_sweep();
  struct heddle_request first = pending_request();
  struct heddle_request second = pending_request();
  int done;
  ncclNetPlugin_v12.test(&first, &done, NULL);
  first.state = HEDDLE_REQUEST_DONE;
  ncclNetPlugin_v12.test(&first, &done, NULL);
  CHECK(done == 1 && entries == 1, "done %d, entries %d", done, entries);
  ncclNetPlugin_v12.test(&second, &done, NULL);
  CHECK(entries == 2, "the next sweep began with %d entries", entries);
}

static void abandoned_marker_is_overtaken_soon(void) {
  forget_sweep();
  struct heddle_request abandoned = pending_request();
  struct heddle_request waited_for = pending_request();
  int done;
  ncclNetPlugin_v12.test(&abandoned, &done, NULL);
  int calls = 0;
  while (entries < 2) {
    ncclNetPlugin_v12.test(&waited_for, &done, NULL);
    CHECK(++calls <= 64, "no progress after %d tests of the only request of interest", calls);
  }
  ncclNetPlugin_v12.test(&waited_for, &done, NULL);
  CHECK(entries == 3, "the new marker doesn't begin sweeps");
}

static void blocked_calls_leave_null(void) {
  next_request = 0;
  void *request = (void *)0x1234;
  CHECK(ncclNetPlugin_v12.isend(&comm, &comm, 1, 0, NULL, NULL, &request) == NCCL_SUCCESS && request == NULL,
        "isend left %p", request);
  void *data[1] = {&comm};
  size_t size[1] = {8};
  int tag[1] = {0};
  request = (void *)0x1; /* NCCL's hint that confirmation is optional */
  CHECK(ncclNetPlugin_v12.irecv(&comm, 1, data, size, tag, data, NULL, &request) == NCCL_SUCCESS && request == NULL,
        "irecv left %p", request);
  request = (void *)0x1234;
  CHECK(ncclNetPlugin_v6.isend(&comm, &comm, -1, 0, NULL, &request) == NCCL_INVALID_ARGUMENT && request == NULL,
        "a negative size left %p", request);
  call_result = NCCL_REMOTE_ERROR;
  request = (void *)0x1234;
  CHECK(ncclNetPlugin_v9.isend(&comm, &comm, 1, 0, NULL, &request) == NCCL_REMOTE_ERROR && request == NULL,
        "an error left %p", request);
  call_result = NCCL_SUCCESS;
}

static void old_sizes_are_widened(void) {
  next_request = 0x1000;
  void *request = NULL;
  CHECK(ncclNetPlugin_v8.isend(&comm, &comm, INT_MAX, -5, (void *)9, &request) == NCCL_SUCCESS, "isend failed");
  CHECK(request == (void *)0x1000, "the request is %p", request);
  CHECK(seen[0] == 4242 && seen[2] == INT_MAX && seen[3] == -5 && seen[4] == 9,
        "isend got size %ld, tag %ld, handle %ld", (long)seen[2], (long)seen[3], (long)seen[4]);
  void *data[8] = {0};
  int sizes[8] = {0, 1, INT_MAX, 3, 4, 5, 6, 7};
  int tags[8] = {0};
  CHECK(ncclNetPlugin_v6.irecv(&comm, 8, data, sizes, tags, data, &request) == NCCL_SUCCESS, "irecv failed");
  for (int i = 0; i < 8; i++) {
    CHECK(seen_sizes[i] == (size_t)sizes[i], "size %d arrived as %zu", sizes[i], seen_sizes[i]);
  }
  CHECK(ncclNetPlugin_v6.irecv(&comm, 9, data, sizes, tags, data, &request) == NCCL_INVALID_ARGUMENT, "9 receives");
  CHECK(ncclNetPlugin_v6.irecv(&comm, 0, data, sizes, tags, data, &request) == NCCL_INVALID_ARGUMENT, "no receive");
  size_t large = (size_t)5 << 30;
  CHECK(ncclNetPlugin_v10.isend(&comm, data, large, 0, NULL, NULL, &request) == NCCL_SUCCESS, "isend failed");
  CHECK(seen[2] == (int64_t)large, "5 GiB arrived as %ld", (long)seen[2]);
  void *handle = NULL;
  CHECK(ncclNetPlugin_v6.reg(&comm, data, -1, 1, &handle) == NCCL_INVALID_ARGUMENT, "a negative registration");
  CHECK(ncclNetPlugin_v8.reg(&comm, data, large, 1, &handle) == NCCL_SUCCESS && handle == (void *)5, "handle %p",
        handle);
  CHECK(seen[2] == (int64_t)large, "5 GiB were registered as %ld", (long)seen[2]);
}

static void traffic_class_arrives_by_each_version(void) {
  struct nccl_config config = {.traffic_class = 96};
  void *context = NULL;
  CHECK(ncclNetPlugin_v12.init(&context, 99, &config, logger, NULL) == NCCL_SUCCESS, "init failed");
  CHECK(context == (void *)77 && seen[0] == 99 && seen[1] == 96, "comm %ld, class %ld", (long)seen[0], (long)seen[1]);
  CHECK(ncclNetPlugin_v12.init(&context, 99, NULL, logger, NULL) == NCCL_SUCCESS && seen[1] == -1, "class %ld",
        (long)seen[1]);
  void *send = (void *)0x99;
  void *device_handle = (void *)0x99;
  char handle[128];
  CHECK(ncclNetPlugin_v10.connect(3, &config, handle, &send, &device_handle) == NCCL_SUCCESS, "connect failed");
  CHECK(seen[0] == 0 && seen[1] == 3 && seen[2] == 96, "device %ld, class %ld", (long)seen[1], (long)seen[2]);
  CHECK(send == NULL && device_handle == NULL, "connect left %p and %p", send, device_handle);
  CHECK(ncclNetPlugin_v12.connect((void *)77, 3, handle, &send, NULL) == NCCL_SUCCESS, "connect failed");
  CHECK(seen[0] == 77 && seen[2] == -1, "context %ld, class %ld", (long)seen[0], (long)seen[2]);
}

int main(void) {
  void *context = NULL;
  CHECK(ncclNetPlugin_v12.init(&context, 1, NULL, logger, NULL) == NCCL_SUCCESS, "init failed");
  test_writes_done_even_when_pending();
  finished_request_is_answered_without_java();
  sizes_may_be_null();
  failed_request_gives_its_code_and_is_released();
  failed_progress_is_passed_on();
  one_sweep_enters_java_once();
  java_is_not_entered_if_another_thread_polled_and_nothing_arrived();
  finished_marker_does_not_stop_progress();
  abandoned_marker_is_overtaken_soon();
  blocked_calls_leave_null();
  old_sizes_are_widened();
  traffic_class_arrives_by_each_version();
  printf("ok: 11 promises\n");
  return 0;
}
