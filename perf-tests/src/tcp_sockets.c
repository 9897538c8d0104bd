#include "tcp_sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nccl_abi.h"
#include "tcp_plugin.h"

struct handle {
  union {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
  } address;
  socklen_t length;
  int threads, count;
  uint64_t token;             /* chosen by the listening end; only a holder of the handle knows it */
  struct tcp_sockets *coming; /* sockets that the connecting end is opening; NULL in a fresh handle */
};

_Static_assert(sizeof(struct handle) <= 128, "NCCL carries 128 bytes");

/* First bytes that the connecting end sends on every socket. */
struct greeting {
  uint64_t token;      /* the handle's token */
  uint64_t connection; /* chosen by the connecting end, distinguishes its connection from others to the listener */
  uint32_t socket;     /* 0 for the control socket, data sockets from 1 on */
  uint32_t zero;
};

/* An accepted socket whose greeting is incomplete. */
struct pending {
  int fd; /* -1 if there is no socket */
  double since;
  struct greeting greeting;
  size_t heard;
};

struct tcp_listener {
  int fd, threads, count;
  uint64_t token;
  struct pending pending_connections[TCP_MOST_PENDING];
  struct tcp_sockets *coming; /* connections of which some sockets have arrived */
};

static void close_socket(int fd) {
  if (fd >= 0) close(fd);
}

static int *socket_at(struct tcp_sockets *sockets, uint32_t place) {
  return place == 0 ? &sockets->control : &sockets->data[place - 1];
}

static struct tcp_sockets *make_sockets(int threads, int count) {
  struct tcp_sockets *sockets = calloc(1, sizeof *sockets);
  if (sockets == NULL) {
    tcp_warn("a communicator");
    return NULL;
  }
  sockets->threads = threads;
  sockets->count = count;
  for (uint32_t i = 0; i <= TCP_MOST_SOCKETS; i++) *socket_at(sockets, i) = -1;
  return sockets;
}

void tcp_close_sockets(struct tcp_sockets *sockets) {
  for (uint32_t i = 0; i <= TCP_MOST_SOCKETS; i++) close_socket(*socket_at(sockets, i));
  free(sockets);
}

static int draw(uint64_t *number) {
  return getrandom(number, sizeof *number, 0) == sizeof *number ? NCCL_SUCCESS : tcp_warn("getrandom");
}

static void set_up(int fd) {
  int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  const char *congestion = getenv("TCPREF_CONGESTION");
  if (congestion != NULL && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, congestion, strlen(congestion)) != 0) {
    tcp_warn("TCPREF_CONGESTION names no congestion control of this kernel");
  }
}

static int open_socket(int family) {
  int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0) set_up(fd);
  return fd;
}

/* ---- settings from the environment ---- */

static int refuse(const char *what) {
  errno = EINVAL;
  tcp_warn(what);
  return NCCL_INVALID_USAGE;
}

static int number_of(const char *name, int usual, int least, int most, int *number) {
  const char *text = getenv(name);
  char *end = NULL, sentence[128];
  *number = usual;
  if (text == NULL) return NCCL_SUCCESS;
  errno = 0;
  long value = strtol(text, &end, 10);
  *number = (int)value;
  if (errno == 0 && end != text && *end == 0 && value >= least && value <= most) return NCCL_SUCCESS;
  snprintf(sentence, sizeof sentence, "%s=%s is not in %d to %d", name, text, least, most);
  return refuse(sentence);
}

static int read_settings(int *threads, int *count) {
  int each, result = number_of("NCCL_SOCKET_NTHREADS", 0, 0, TCP_MOST_THREADS, threads);
  if (result == NCCL_SUCCESS) result = number_of("NCCL_NSOCKS_PERTHREAD", 1, 1, TCP_MOST_SOCKETS, &each);
  if (result != NCCL_SUCCESS) return result;
  *count = *threads * each;
  return *count <= TCP_MOST_SOCKETS
             ? NCCL_SUCCESS
             : refuse("NCCL_SOCKET_NTHREADS times NCCL_NSOCKS_PERTHREAD is more than 64 sockets");
}

/*
 * Chooses an address of an interface with the requested prefix: a global IPv6 address before IPv4, and IPv4 before
 * loopback.
 */
static int choose_address(void *address, socklen_t *length) {
  const char *wanted = getenv("NCCL_SOCKET_IFNAME");
  struct ifaddrs *all;
  if (getifaddrs(&all) != 0) return tcp_warn("getifaddrs");
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
  return best > 0 ? NCCL_SUCCESS : tcp_warn("no address (NCCL_SOCKET_IFNAME)");
}

/* ---- the listening end ---- */

int tcp_listen(void *opaque, struct tcp_listener **out) {
  struct handle *handle = opaque;
  memset(handle, 0, 128);
  int result = choose_address(&handle->address, &handle->length);
  if (result == NCCL_SUCCESS) result = read_settings(&handle->threads, &handle->count);
  if (result == NCCL_SUCCESS) result = draw(&handle->token);
  if (result != NCCL_SUCCESS) return result;
  struct tcp_listener *listener = calloc(1, sizeof *listener);
  if (listener == NULL) return tcp_warn("a listener");
  *listener = (struct tcp_listener){.threads = handle->threads, .count = handle->count, .token = handle->token};
  for (int i = 0; i < TCP_MOST_PENDING; i++) listener->pending_connections[i].fd = -1;
  int fd = listener->fd = open_socket(handle->address.any.sa_family);
  if (fd < 0 || bind(fd, &handle->address.any, handle->length) != 0 || listen(fd, SOMAXCONN) != 0 ||
      getsockname(fd, &handle->address.any, &handle->length) != 0) {
    result = tcp_warn("listen");
    tcp_close_listener(listener);
    return result;
  }
  *out = listener;
  return NCCL_SUCCESS;
}

void tcp_close_listener(struct tcp_listener *listener) {
  close_socket(listener->fd);
  for (int i = 0; i < TCP_MOST_PENDING; i++) close_socket(listener->pending_connections[i].fd);
  while (listener->coming != NULL) {
    struct tcp_sockets *sockets = listener->coming;
    listener->coming = sockets->next;
    tcp_close_sockets(sockets);
  }
  free(listener);
}

static void reject(struct pending *pending, int error, const char *why) {
  union {
    struct sockaddr any;
    struct sockaddr_storage whole;
  } address;
  socklen_t length = sizeof address;
  char host[INET6_ADDRSTRLEN] = "nowhere", port[8] = "0", sentence[256];
  if (getpeername(pending->fd, &address.any, &length) == 0) {
    getnameinfo(&address.any, length, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  }
  snprintf(sentence, sizeof sentence, "a connection from %s port %s is rejected: %s", host, port, why);
  errno = error;
  tcp_warn(sentence);
  close_socket(pending->fd);
  pending->fd = -1;
}

/* Returns 1 when the greeting is complete. Closes a connection that is too slow or has a wrong greeting. */
static int read_greeting(const struct tcp_listener *listener, struct pending *pending) {
  struct greeting *greeting = &pending->greeting;
  while (pending->heard < sizeof *greeting) {
    ssize_t got = recv(pending->fd, (char *)greeting + pending->heard, sizeof *greeting - pending->heard, 0);
    if (would_block(got)) {
      if (tcp_now() - pending->since > TCP_GREETING_SECONDS) reject(pending, ETIMEDOUT, "it doesn't greet");
      return 0;
    }
    if (got <= 0) {
      reject(pending, got == 0 ? ECONNRESET : errno, "it left without a greeting");
      return 0;
    }
    pending->heard += (size_t)got;
  }
  if (greeting->token != listener->token) {
    reject(pending, EPROTO, "it hasn't got the handle of this listener");
  } else if (greeting->zero != 0 || greeting->socket > (uint32_t)listener->count) {
    reject(pending, EPROTO, "it greets with a socket that this listener doesn't have");
  }
  return pending->fd >= 0;
}

/* Returns the list link that points to this incoming connection. Adds the connection at the list's end if it is new. */
static struct tcp_sockets **place_of(struct tcp_listener *listener, uint64_t connection) {
  struct tcp_sockets **place = &listener->coming;
  while (*place != NULL && (*place)->connection != connection) place = &(*place)->next;
  if (*place == NULL && (*place = make_sockets(listener->threads, listener->count)) != NULL) {
    (*place)->connection = connection;
  }
  return place;
}

/*
 * Adds a socket whose greeting is complete to its connection. If the connection then has all its sockets, removes it
 * from the list and returns it in `out`.
 */
static int add_to_connection(struct tcp_listener *listener, struct pending *pending, struct tcp_sockets **out) {
  struct tcp_sockets **place = place_of(listener, pending->greeting.connection), *sockets = *place;
  if (sockets == NULL) return NCCL_SYSTEM_ERROR;
  int *socket = socket_at(sockets, pending->greeting.socket);
  if (*socket >= 0) {
    reject(pending, EPROTO, "a socket comes twice");
    return NCCL_SUCCESS;
  }
  *socket = pending->fd;
  pending->fd = -1;
  if (++sockets->there > sockets->count) {
    *place = sockets->next;
    *out = sockets;
  }
  return NCCL_SUCCESS;
}

/* Returns a free entry for one more socket. If all are in use, evicts the socket that has been silent longest. */
static struct pending *free_entry(struct tcp_listener *listener) {
  struct pending *oldest = &listener->pending_connections[0];
  for (struct pending *pending = listener->pending_connections;
       pending < listener->pending_connections + TCP_MOST_PENDING; pending++) {
    if (pending->fd < 0) return pending;
    if (pending->since < oldest->since) oldest = pending;
  }
  reject(oldest, EUSERS, "too many others come that don't greet either");
  return oldest;
}

/*
 * Reads the greetings of all pending sockets before it accepts more, so that it evicts no socket whose greeting has
 * arrived.
 */
int tcp_accept(struct tcp_listener *listener, struct tcp_sockets **out) {
  int result = NCCL_SUCCESS;
  *out = NULL;
  for (int i = 0; i < TCP_MOST_PENDING && *out == NULL && result == NCCL_SUCCESS; i++) {
    struct pending *pending = &listener->pending_connections[i];
    if (pending->fd >= 0 && read_greeting(listener, pending)) result = add_to_connection(listener, pending, out);
  }
  for (int i = 0; i < TCP_MOST_PENDING && *out == NULL && result == NCCL_SUCCESS; i++) {
    int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (would_block(fd)) break;
    if (fd < 0) return tcp_warn("accept");
    set_up(fd);
    struct pending *pending = free_entry(listener);
    *pending = (struct pending){.fd = fd, .since = tcp_now()};
    if (read_greeting(listener, pending)) result = add_to_connection(listener, pending, out);
  }
  return result;
}

/* ---- the connecting end ---- */

static int give_up(struct handle *handle, const char *what) {
  int result = tcp_warn(what);
  tcp_close_sockets(handle->coming);
  handle->coming = NULL;
  return result;
}

int tcp_connect(void *opaque, struct tcp_sockets **out) {
  struct handle *handle = opaque;
  *out = NULL;
  if (handle->coming == NULL) {
    handle->coming = make_sockets(handle->threads, handle->count);
    if (handle->coming == NULL) return NCCL_SYSTEM_ERROR;
    if (draw(&handle->coming->connection) != NCCL_SUCCESS) return give_up(handle, "a new connection");
  }
  struct tcp_sockets *sockets = handle->coming;
  for (; sockets->there <= sockets->count; sockets->there++) {
    int *fd = socket_at(sockets, (uint32_t)sockets->there);
    if (*fd < 0) *fd = open_socket(handle->address.any.sa_family);
    if (*fd < 0) return give_up(handle, "socket");
    if (connect(*fd, &handle->address.any, handle->length) != 0 && errno != EISCONN) {
      return errno == EINPROGRESS || errno == EALREADY || errno == EINTR ? NCCL_SUCCESS : give_up(handle, "connect");
    }
    struct greeting greeting = {
        .token = handle->token, .connection = sockets->connection, .socket = (uint32_t)sockets->there};
    /* A fresh socket always has room for the greeting. */
    if (send(*fd, &greeting, sizeof greeting, MSG_NOSIGNAL) != sizeof greeting) return give_up(handle, "greeting");
  }
  handle->coming = NULL;
  *out = sockets;
  return NCCL_SUCCESS;
}
