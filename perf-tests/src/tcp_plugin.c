/*
 * A net plugin over kernel TCP: what every benchmark of Heddle runs beside it, over the same interface. One stream per
 * communicator, non-blocking, driven by test(), as NCCL's own socket transport does with one socket and no helper thread.
 *
 *   NCCL_SOCKET_IFNAME   prefix of the interface's name (the first that is up and not loopback)
 *   TCPREF_CONGESTION    congestion control of its sockets, such as cubic (the system's)
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "one_device.h"

#define REQUESTS 256
#define PIECE (512 * 1024)

struct header {
  uint32_t size, tag;
};

struct comm;

struct request {
  struct comm *comm;
  char *data;
  size_t size, moved; /* moved: of the payload */
  int used, done; /* used: until test() has said that it is done */
  struct header header;
  size_t header_moved;
};

struct comm {
  int fd, sending, failed;
  unsigned long head, tail; /* requests in order; [head, tail) are under way */
  struct request requests[REQUESTS];
};

struct handle {
  union {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
  } address;
  socklen_t length;
  int fd_plus_one; /* of the connecting side, 0 in a fresh handle */
};

_Static_assert(sizeof(struct handle) <= 128, "NCCL carries 128 bytes");

static nccl_logger logger;

static int warn(const char *what) {
  if (logger != NULL) logger(NCCL_LOG_WARN, NCCL_SUBSYSTEM_NET, __FILE__, __LINE__, "tcpref: %s: %s", what, strerror(errno));
  return NCCL_SYSTEM_ERROR;
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

static void set_up(int fd) {
  int one = 1;
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  const char *congestion = getenv("TCPREF_CONGESTION");
  if (congestion != NULL && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, congestion, strlen(congestion)) != 0) {
    warn("TCPREF_CONGESTION names no congestion control of this kernel");
  }
}

/* Global IPv6 before IPv4 before loopback, of an interface whose name begins as asked. */
static int choose_address(void *address, socklen_t *length) {
  const char *wanted = getenv("NCCL_SOCKET_IFNAME");
  struct ifaddrs *all;
  if (getifaddrs(&all) != 0) return warn("getifaddrs");
  int best = 0;
  for (struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
    if (one->ifa_addr == NULL || !(one->ifa_flags & IFF_UP)) continue;
    if (wanted != NULL && strncmp(one->ifa_name, wanted, strlen(wanted)) != 0) continue;
    int rank = 0;
    if (one->ifa_addr->sa_family == AF_INET6) {
      struct sockaddr_in6 *six = (struct sockaddr_in6 *)one->ifa_addr;
      rank = IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) ? 0 : 4;
    } else if (one->ifa_addr->sa_family == AF_INET) {
      rank = 3;
    }
    if (rank > 0 && (one->ifa_flags & IFF_LOOPBACK)) rank -= 2;
    if (rank > best) {
      best = rank;
      *length = one->ifa_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
      memcpy(address, one->ifa_addr, *length);
    }
  }
  freeifaddrs(all);
  errno = EADDRNOTAVAIL;
  return best > 0 ? NCCL_SUCCESS : warn("no address (NCCL_SOCKET_IFNAME)");
}

static int listen_on(void *context, int device, void *opaque, void **listen_comm) {
  (void)context, (void)device;
  struct handle *handle = opaque;
  memset(handle, 0, 128);
  int result = choose_address(&handle->address, &handle->length);
  if (result != NCCL_SUCCESS) return result;
  int fd = socket(handle->address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, &handle->address.any, handle->length) != 0 || listen(fd, 64) != 0 ||
      getsockname(fd, &handle->address.any, &handle->length) != 0) {
    return warn("listen");
  }
  set_up(fd);
  int *comm = malloc(sizeof *comm);
  if (comm == NULL) return NCCL_SYSTEM_ERROR;
  *comm = fd;
  *listen_comm = comm;
  return NCCL_SUCCESS;
}

static int make_comm(int fd, int sending, void **out) {
  struct comm *comm = calloc(1, sizeof *comm);
  if (comm == NULL) return NCCL_SYSTEM_ERROR;
  comm->fd = fd;
  comm->sending = sending;
  for (int i = 0; i < REQUESTS; i++) comm->requests[i].comm = comm;
  *out = comm;
  return NCCL_SUCCESS;
}

static int connect_to(void *context, int device, void *opaque, void **comm, void **device_comm) {
  (void)context, (void)device, (void)device_comm;
  struct handle *handle = opaque;
  *comm = NULL;
  if (handle->fd_plus_one == 0) {
    int fd = socket(handle->address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return warn("socket");
    set_up(fd);
    handle->fd_plus_one = fd + 1;
  }
  int fd = handle->fd_plus_one - 1;
  if (connect(fd, &handle->address.any, handle->length) == 0 || errno == EISCONN) {
    return make_comm(fd, 1, comm);
  }
  return errno == EINPROGRESS || errno == EALREADY || errno == EINTR ? NCCL_SUCCESS : warn("connect");
}

static int accept_from(void *listen_comm, void **comm, void **device_comm) {
  (void)device_comm;
  *comm = NULL;
  int fd = accept(*(int *)listen_comm, NULL, NULL);
  if (fd < 0) return errno == EAGAIN || errno == EINTR ? NCCL_SUCCESS : warn("accept");
  set_up(fd);
  return make_comm(fd, 0, comm);
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

static int would_block(ssize_t moved) {
  return moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

/* Returns whether the request is finished. */
static int move(struct comm *comm, struct request *request) {
  while (request->header_moved < sizeof request->header || request->moved < request->size) {
    size_t left = request->size - request->moved;
    struct iovec parts[2] = {
        {(char *)&request->header + request->header_moved, sizeof request->header - request->header_moved},
        {request->data + request->moved, left > PIECE ? PIECE : left}};
    /* A receiver must know the size before it takes payload. */
    int first = request->header_moved < sizeof request->header ? 0 : 1;
    int count = comm->sending || first == 1 ? 2 - first : 1;
    struct msghdr message = {.msg_iov = parts + first, .msg_iovlen = (size_t)count};
    ssize_t moved =
        comm->sending ? sendmsg(comm->fd, &message, MSG_NOSIGNAL) : recvmsg(comm->fd, &message, 0);
    if (would_block(moved)) return 0;
    if (moved <= 0) {
      comm->failed = 1;
      warn(comm->sending ? "the receiver is gone" : "the sender is gone");
      return 0;
    }
    size_t of_header = first == 0 ? parts[0].iov_len : 0;
    if ((size_t)moved < of_header) of_header = (size_t)moved;
    request->header_moved += of_header;
    request->moved += (size_t)moved - of_header;
    if (!comm->sending && first == 0 && request->header_moved == sizeof request->header) {
      if (request->header.size > request->size) {
        comm->failed = 1;
        errno = EMSGSIZE;
        warn("a send is larger than its receive");
        return 0;
      }
      request->size = request->header.size;
    }
  }
  request->done = 1;
  return 1;
}

static int advance(struct comm *comm) {
  while (comm->head != comm->tail && !comm->failed && move(comm, &comm->requests[comm->head % REQUESTS])) comm->head++;
  return comm->failed ? NCCL_REMOTE_ERROR : NCCL_SUCCESS;
}

static int start(struct comm *comm, void *data, size_t size, int tag, void **out) {
  *out = NULL;
  struct request *request = &comm->requests[comm->tail % REQUESTS];
  if (comm->failed) return NCCL_REMOTE_ERROR;
  if (request->used) return NCCL_SUCCESS;
  *request = (struct request){.comm = comm, .used = 1, .data = data, .size = size, .header = {(uint32_t)size, (uint32_t)tag}};
  comm->tail++;
  *out = request;
  return advance(comm);
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

static int test(void *opaque, int *done, int *sizes) {
  struct request *request = opaque;
  int result = request->done ? NCCL_SUCCESS : advance(request->comm);
  *done = request->done;
  if (*done && sizes != NULL) sizes[0] = (int)request->size;
  if (*done) request->used = 0;
  return request->done ? NCCL_SUCCESS : result;
}

static int close_comm(void *opaque) {
  struct comm *comm = opaque;
  close(comm->fd);
  free(comm);
  return NCCL_SUCCESS;
}

static int close_listen(void *opaque) {
  close(*(int *)opaque);
  free(opaque);
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
