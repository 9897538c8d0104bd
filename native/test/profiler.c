/*
 * Tests the plugin with a profiler in place of NCCL's, through each version of the interface that supports profilers.
 * Checks the events of messages and planes, an end for every start, and the number of calls while the profiler ignores
 * messages.
 */
#include "../include/heddle_profiler.h"
#include "harness.h"

enum { SIZE = 8 << 20, PATIENCE_S = 60, EVENTS = 4096, START = 0, STOP_WITH_UPDATE = 3 };

/* ---- the profiler ---- */

static struct event {
  void *parent;
  struct heddle_profiler_event begun;
  struct heddle_profiler_event ended;
  char plane_name[64];
  int ends;
} events[EVENTS];

static int started;
static bool listens = true;
static int calls_heard;

static int profiler(void **handle, int type, void *parent, int64_t plugin, void *data) {
  calls_heard++;
  CHECK(plugin == HEDDLE_PROFILER_ID && plugin == 0x48450001, "plugin %lx", plugin);
  if (!listens) {
    CHECK(type == START, "type %d of an event without a handle", type);
    return NCCL_SUCCESS;
  }
  if (type == START) {
    CHECK(*handle == NULL && started < EVENTS, "handle %p, event %d", *handle, started);
    struct event *event = &events[started++];
    *event = (struct event){.parent = parent, .begun = *(struct heddle_profiler_event *)data};
    snprintf(event->plane_name, sizeof event->plane_name, "%s",
             event->begun.plane_name == NULL ? "" : event->begun.plane_name);
    *handle = event;
  } else {
    CHECK(type == STOP_WITH_UPDATE, "type %d", type);
    struct event *event = *handle;
    CHECK(event >= events && event < events + started, "the end of an event that wasn't started");
    event->ended = *(struct heddle_profiler_event *)data;
    event->ends++;
  }
  return NCCL_SUCCESS;
}

/* ---- the plugin, by any version ---- */

static struct {
  int (*listen)(char *handle, void **comm);
  int (*connect)(char *handle, void **comm);
  nccl_accept_v7 *accept;
  nccl_reg_v8 *reg;
  nccl_dereg *dereg;
  nccl_isend_v10 *isend;
  nccl_irecv_v10 *irecv;
  nccl_test *test;
  nccl_close *close_send;
  nccl_close *close_receive;
  nccl_close *close_listen;
} net;

static const struct nccl_net_v10 *v10;
static const struct nccl_net_v11 *v11;
static const struct nccl_net_v12 *v12;
static void *context;
static struct nccl_config config = {.traffic_class = -1};

static int listen_v10(char *handle, void **comm) { return v10->listen(0, handle, comm); }

static int connect_v10(char *handle, void **comm) { return v10->connect(0, &config, handle, comm, NULL); }

static int listen_v11(char *handle, void **comm) { return v11->listen(context, 0, handle, comm); }

static int connect_v11(char *handle, void **comm) { return v11->connect(context, 0, handle, comm, NULL); }

static int listen_v12(char *handle, void **comm) { return v12->listen(context, 0, handle, comm); }

static int connect_v12(char *handle, void **comm) { return v12->connect(context, 0, handle, comm, NULL); }

#define USE(version, table_of) \
  do { \
    net.listen = listen_##version; \
    net.connect = connect_##version; \
    net.accept = (table_of)->accept; \
    net.reg = (table_of)->reg; \
    net.dereg = (table_of)->dereg; \
    net.isend = (table_of)->isend; \
    net.irecv = (table_of)->irecv; \
    net.test = (table_of)->test; \
    net.close_send = (table_of)->close_send; \
    net.close_receive = (table_of)->close_receive; \
    net.close_listen = (table_of)->close_listen; \
    int count = 0; \
    result = (table_of)->devices(&count); \
    CHECK(result == NCCL_SUCCESS && count > 0, "devices returned %d, count %d", result, count); \
  } while (0)

static void open_version(int version) {
  void *library = load();
  int result = NCCL_INVALID_USAGE;
  if (version == 10) {
    v10 = table(library, "ncclNetPlugin_v10");
    result = v10->init(logger, profiler);
    CHECK(result == NCCL_SUCCESS, "init returned %d", result);
    USE(v10, v10);
  } else if (version == 11) {
    v11 = table(library, "ncclNetPlugin_v11");
    result = v11->init(&context, 1, &config, logger, profiler);
    CHECK(result == NCCL_SUCCESS, "init returned %d", result);
    USE(v11, v11);
  } else {
    v12 = table(library, "ncclNetPlugin_v12");
    result = v12->init(&context, 1, &config, logger, profiler);
    CHECK(result == NCCL_SUCCESS, "init returned %d", result);
    USE(v12, v12);
  }
}

/* ---- one connection ---- */

static void *listen_comm;
static void *sender;
static void *receiver;
static void *source_handle;
static void *target_handle;
static char source[SIZE];
static char target[SIZE];
static long deadline;

static void keep_waiting(const char *what) { CHECK(now_us() < deadline, "%s took more than %d s", what, PATIENCE_S); }

static void connect_pair(void) {
  char handle[128] = "";
  deadline = now_us() + PATIENCE_S * 1000000L;
  CHECK(net.listen(handle, &listen_comm) == NCCL_SUCCESS, "listen failed");
  while (sender == NULL || receiver == NULL) {
    CHECK(sender != NULL || net.connect(handle, &sender) == NCCL_SUCCESS, "connect failed");
    CHECK(receiver != NULL || net.accept(listen_comm, &receiver, NULL) == NCCL_SUCCESS, "accept failed");
    keep_waiting("the connection");
  }
  CHECK(net.reg(sender, source, SIZE, 1, &source_handle) == NCCL_SUCCESS, "regMr failed");
  CHECK(net.reg(receiver, target, SIZE, 1, &target_handle) == NCCL_SUCCESS, "regMr failed");
}

static void *receive(size_t size, int tag) {
  void *data[1] = {target};
  void *handles[1] = {target_handle};
  size_t sizes[1] = {size};
  int tags[1] = {tag};
  void *request = NULL;
  while (request == NULL) {
    CHECK(net.irecv(receiver, 1, data, sizes, tags, handles, NULL, &request) == NCCL_SUCCESS, "irecv failed");
    keep_waiting("a receive");
  }
  return request;
}

static void *send_with(size_t size, int tag, void *parent) {
  void *request = NULL;
  while (request == NULL) {
    CHECK(net.isend(sender, source, size, tag, source_handle, parent, &request) == NCCL_SUCCESS, "isend failed");
    keep_waiting("a send");
  }
  return request;
}

static void transfer(size_t size, int tag, void *parent) {
  deadline = now_us() + PATIENCE_S * 1000000L;
  void *requests[2] = {receive(size, tag), send_with(size, tag, parent)};
  while (requests[0] != NULL || requests[1] != NULL) {
    for (int i = 0; i < 2; i++) {
      int done = 0;
      CHECK(requests[i] == NULL || net.test(requests[i], &done, NULL) == NCCL_SUCCESS, "test failed");
      if (done) {
        requests[i] = NULL;
      }
    }
    keep_waiting("a message");
  }
}

/* ---- the expected events ---- */

/* Checks the events from `first` on, which belong to one delivered message. */
static void check_message(int first, size_t size, int tag, const void *parent, bool both_planes) {
  uint64_t bytes = 0;
  uint32_t chunks = 0;
  bool seen[2] = {false, false};
  CHECK(started > first + 1, "%d events of a message of %zu bytes", started - first, size);
  for (int i = first; i < started; i++) {
    struct event *event = &events[i];
    CHECK(event->parent == parent && event->begun.tag == tag, "event %d has tag %d", i, event->begun.tag);
    CHECK(event->ends == 1, "event %d ended %d times", i, event->ends);
    CHECK(event->begun.kind == event->ended.kind && event->begun.plane == event->ended.plane, "event %d changed", i);
    if (i == first) {
      CHECK(event->begun.kind == HEDDLE_PROFILER_MESSAGE && event->begun.plane == -1, "kind %u", event->begun.kind);
      CHECK(event->begun.bytes == size && event->ended.bytes == size, "%zu bytes: %lu started, %lu ended", size,
            event->begun.bytes, event->ended.bytes);
      CHECK(event->plane_name[0] == '\0', "a message on plane %s", event->plane_name);
    } else {
      CHECK(event->begun.kind == HEDDLE_PROFILER_PLANE, "kind %u", event->begun.kind);
      CHECK(event->begun.plane >= 0 && event->begun.plane < 2 && !seen[event->begun.plane], "plane %d",
            event->begun.plane);
      seen[event->begun.plane] = true;
      CHECK(strstr(event->plane_name, event->begun.plane == 0 ? "one" : "two") != NULL, "plane %d is called %s",
            event->begun.plane, event->plane_name);
      CHECK(event->begun.chunks > 0 && event->begun.bytes <= event->ended.bytes, "%lu bytes started, %lu ended",
            event->begun.bytes, event->ended.bytes);
      bytes += event->ended.bytes;
      chunks += event->ended.chunks;
    }
  }
  CHECK(bytes == size && chunks > 0, "the planes carried %lu bytes of %zu in %u chunks", bytes, size, chunks);
  CHECK(!both_planes || (seen[0] && seen[1]), "a message of %zu bytes took one plane only", size);
}

int main(int count, char **arguments) {
  int version = count == 2 ? atoi(arguments[1]) : 0;
  CHECK(version >= 10 && version <= 12, "usage: profiler 10..12");
  int parent = 0;
  open_version(version);
  connect_pair();
  static const size_t SIZES[] = {SIZE, 0, 1, 4096, 1 << 20};
  for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
    int first = started;
    transfer(SIZES[i], (int)i + 5, &parent);
    check_message(first, SIZES[i], (int)i + 5, &parent, SIZES[i] == SIZE);
  }
  int heard = calls_heard;
  transfer(SIZE, 1, NULL); /* without a parent, as for the bootstrap's messages */
  CHECK(calls_heard == heard, "%d calls for a message without a parent", calls_heard - heard);
  listens = false;
  transfer(SIZE, 1, &parent);
  CHECK(calls_heard == heard + 1, "%d calls while the profiler ignores messages", calls_heard - heard);
  listens = true;
  CHECK(warnings == 0, "%d warnings", warnings);
  /* Starts a message whose requests are never tested, as after an abort. Its events must end nevertheless. */
  int first = started;
  deadline = now_us() + PATIENCE_S * 1000000L;
  receive(SIZE, 9);
  send_with(SIZE, 9, &parent);
  CHECK(started > first, "no event of a message in flight");
  CHECK(net.dereg(sender, source_handle) == NCCL_SUCCESS && net.dereg(receiver, target_handle) == NCCL_SUCCESS,
        "deregMr");
  CHECK(net.close_send(sender) == NCCL_SUCCESS && net.close_receive(receiver) == NCCL_SUCCESS, "close");
  CHECK(net.close_listen(listen_comm) == NCCL_SUCCESS, "closeListen");
  for (int i = first; i < started; i++) {
    CHECK(events[i].ends == 1, "event %d of %d of an aborted message ended %d times", i - first, started - first,
          events[i].ends);
  }
  CHECK(version == 10 || (version == 11 ? v11->finalize : v12->finalize)(context) == NCCL_SUCCESS, "finalize failed");
  printf("ok: version %d, %d events\n", version, started);
  return 0;
}
