/*
 * A net plugin over kernel TCP, with which every benchmark compares Heddle, over the same interface. By default it has
 * one non-blocking stream per communicator, which test() drives, like NCCL's own socket transport with one socket and
 * no helper thread. If the environment sets helper threads, it works like NCCL's transport with them (tcp_helpers.h).
 * The stream then carries sizes and messages of up to 128 bytes, and the threads' sockets carry everything else.
 *
 *   NCCL_SOCKET_IFNAME     prefix of the interface's name (the first that is up and not loopback)
 *   NCCL_SOCKET_NTHREADS   helper threads of a communicator, 0 to 16 (default 0). NCCL uses 2 on Amazon's and 4 on
 *                          Google's networks, none elsewhere
 *   NCCL_NSOCKS_PERTHREAD  sockets of each thread (default 1), 64 in all at most. NCCL uses 8 on Amazon's networks,
 *                          1 on Google's
 *   TCPREF_CONGESTION      congestion control of its sockets, such as cubic (default: the system's)
 *
 * The listening end's numbers of threads and sockets apply to both ends. NCCL's helper threads spin while no bytes can
 * be sent or received. The threads here yield instead, and are as fast (docs/notebook/records.md).
 */
#include "tcp_plugin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "one_device.h"
#include "tcp_helpers.h"
#include "tcp_sockets.h"

#define INLINE_BYTES 128

struct header {
  uint32_t size, tag;
};

struct comm;

struct request {
  struct comm *comm;
  char *data;
  size_t size;
  /* bytes of payload that follow the header in the stream; at a receiver, 0 until the header has arrived */
  size_t streamed;
  size_t moved;     /* bytes of this payload that were moved */
  int used;         /* whether the request is in use: until test() has reported it done */
  int passed;       /* whether the request's part in the stream is finished, and the rest was passed to the helpers */
  atomic_int tasks; /* number of the request's unfinished helper tasks */
  struct header header;
  size_t header_moved;
};

struct comm {
  struct tcp_sockets *sockets;
  struct tcp_helpers *helpers; /* NULL if there are no helper threads */
  int sending;
  int failure;              /* an ncclResult_t */
  unsigned long head, tail; /* requests in order; those in [head, tail) are in the stream */
  struct request requests[TCP_REQUESTS];
};

static nccl_logger logger;

int tcp_warn(const char *what) {
  if (logger != NULL)
    logger(NCCL_LOG_WARN, NCCL_SUBSYSTEM_NET, __FILE__, __LINE__, "tcpref: %s: %s", what, strerror(errno));
  return NCCL_SYSTEM_ERROR;
}

double tcp_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int init(void **context, uint64_t comm_id, struct nccl_config *config, nccl_logger log, nccl_profiler profile) {
  (void)comm_id, (void)config, (void)profile;
  static int there;
  *context = &there;
  logger = log;
  return NCCL_SUCCESS;
}

static int get_properties(int device, struct nccl_properties_v12 *properties) {
  (void)device;
  return properties_of("tcpref0", 1, properties);
}

/* ---- communicators ---- */

static int listen_on(void *context, int device, void *handle, void **listen_comm) {
  (void)context, (void)device;
  return tcp_listen(handle, (struct tcp_listener **)listen_comm);
}

static int close_listen(void *listener) {
  tcp_close_listener(listener);
  return NCCL_SUCCESS;
}

/* Creates a communicator. Takes ownership of the sockets, also on failure. */
static int make_comm(struct tcp_sockets *sockets, int sending, void **out) {
  struct comm *comm = calloc(1, sizeof *comm);
  struct tcp_helpers *helpers = sockets->threads > 0 ? tcp_helpers_of(sockets, sending) : NULL;
  if (comm == NULL || (helpers == NULL && sockets->threads > 0)) {
    free(comm);
    tcp_close_sockets(sockets);
    return NCCL_SYSTEM_ERROR;
  }
  comm->sockets = sockets;
  comm->helpers = helpers;
  comm->sending = sending;
  *out = comm;
  return NCCL_SUCCESS;
}

static int connect_to(void *context, int device, void *handle, void **comm, void **device_comm) {
  (void)context, (void)device, (void)device_comm;
  struct tcp_sockets *sockets;
  *comm = NULL;
  int result = tcp_connect(handle, &sockets);
  return sockets == NULL ? result : make_comm(sockets, 1, comm);
}

static int accept_from(void *listen_comm, void **comm, void **device_comm) {
  (void)device_comm;
  struct tcp_sockets *sockets;
  *comm = NULL;
  int result = tcp_accept(listen_comm, &sockets);
  return sockets == NULL ? result : make_comm(sockets, 0, comm);
}

static int close_comm(void *opaque) {
  struct comm *comm = opaque;
  if (comm->helpers != NULL) tcp_helpers_end(comm->helpers);
  tcp_close_sockets(comm->sockets);
  free(comm);
  return NCCL_SUCCESS;
}

static int reg(void *comm, void *data, size_t size, int type, void **memory) {
  (void)size;
  *memory = data == NULL ? comm : data;
  return type == 1 ? NCCL_SUCCESS : NCCL_INVALID_USAGE;
}

static int dereg(void *comm, void *memory) {
  (void)comm, (void)memory;
  return NCCL_SUCCESS;
}

/* ---- messages ---- */

static size_t streamed_of(const struct comm *comm, size_t size) {
  return comm->helpers == NULL || size <= INLINE_BYTES ? size : 0;
}

static int fail(struct comm *comm, int error, const char *what) {
  errno = error;
  tcp_warn(what);
  comm->failure = NCCL_REMOTE_ERROR;
  return 0;
}

/* Sends or receives the header and the request's payload in the stream. Returns whether both are finished. */
static int move(struct comm *comm, struct request *request) {
  while (request->header_moved < sizeof request->header || request->moved < request->streamed) {
    size_t left = request->streamed - request->moved;
    struct iovec parts[2] = {
        {(char *)&request->header + request->header_moved, sizeof request->header - request->header_moved},
        {request->data + request->moved, left > TCP_PIECE ? TCP_PIECE : left}};
    /* A receiver must know the size before it receives payload. */
    int first = request->header_moved < sizeof request->header ? 0 : 1;
    int count = comm->sending || first == 1 ? 2 - first : 1;
    struct msghdr message = {.msg_iov = parts + first, .msg_iovlen = (size_t)count};
    int fd = comm->sockets->control;
    ssize_t moved = comm->sending ? sendmsg(fd, &message, MSG_NOSIGNAL) : recvmsg(fd, &message, 0);
    if (would_block(moved)) return 0;
    if (moved <= 0) {
      return fail(comm, moved == 0 ? ECONNRESET : errno, comm->sending ? "the receiver is gone" : "the sender is gone");
    }
    size_t of_header = first == 0 ? parts[0].iov_len : 0;
    if ((size_t)moved < of_header) of_header = (size_t)moved;
    request->header_moved += of_header;
    request->moved += (size_t)moved - of_header;
    if (!comm->sending && first == 0 && request->header_moved == sizeof request->header) {
      if (request->header.size > request->size) return fail(comm, EMSGSIZE, "a send is larger than its receive");
      request->size = request->header.size;
      request->streamed = streamed_of(comm, request->size);
    }
  }
  return 1;
}

static int advance(struct comm *comm) {
  for (; comm->head != comm->tail && comm->failure == NCCL_SUCCESS; comm->head++) {
    struct request *request = &comm->requests[comm->head % TCP_REQUESTS];
    if (!move(comm, request)) break;
    if (request->streamed < request->size) {
      comm->failure = tcp_helpers_submit(comm->helpers, request->data, request->size, &request->tasks);
    }
    request->passed = comm->failure == NCCL_SUCCESS;
  }
  if (comm->failure == NCCL_SUCCESS && comm->helpers != NULL && tcp_helpers_failed(comm->helpers)) {
    comm->failure = NCCL_REMOTE_ERROR;
  }
  return comm->failure;
}

static int start(struct comm *comm, void *data, size_t size, int tag, void **out) {
  *out = NULL;
  struct request *request = &comm->requests[comm->tail % TCP_REQUESTS];
  if (comm->failure != NCCL_SUCCESS) return comm->failure;
  if (request->used) return NCCL_SUCCESS;
  *request =
      (struct request){.comm = comm, .used = 1, .data = data, .size = size, .header = {(uint32_t)size, (uint32_t)tag}};
  if (comm->sending) request->streamed = streamed_of(comm, size);
  comm->tail++;
  *out = request;
  advance(comm); /* test() reports a failure of this call */
  return NCCL_SUCCESS;
}

static int isend(void *comm, void *data, size_t size, int tag, void *memory, void *profiler, void **request) {
  (void)memory, (void)profiler;
  return start(comm, data, size, tag, request);
}

static int irecv(void *comm, int n, void **data, size_t *sizes, int *tags, void **memory, void **profilers,
                 void **request) {
  (void)memory, (void)profilers;
  return n == 1 ? start(comm, data[0], sizes[0], tags[0], request) : NCCL_INVALID_USAGE;
}

static int is_done(struct request *request) {
  return request->passed && atomic_load_explicit(&request->tasks, memory_order_acquire) == 0;
}

static int test(void *opaque, int *done, int *sizes) {
  struct request *request = opaque;
  int result = is_done(request) ? NCCL_SUCCESS : advance(request->comm);
  *done = is_done(request);
  if (!*done) return result;
  if (sizes != NULL) sizes[0] = (int)request->size;
  request->used = 0;
  return NCCL_SUCCESS;
}

__attribute__((visibility("default"))) const struct nccl_net_v12 ncclNetPlugin_v12 = {
    .name = "TCPref",
    .init = init,
    .devices = one_device,
    .get_properties = get_properties,
    .listen = listen_on,
    .connect = connect_to,
    .accept = accept_from,
    .reg = reg,
    .dereg = dereg,
    .isend = isend,
    .irecv = irecv,
    .iflush = no_flush,
    .test = test,
    .close_send = close_comm,
    .close_receive = close_comm,
    .close_listen = close_listen,
    .finalize = no_end,
};
