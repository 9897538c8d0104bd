/*
 * Tests of the TCP plugin's listener with clients that aren't peers, or are slow. Peers must be able to connect
 * nevertheless.
 */
#include <dirent.h>

#include "../src/report.h"
#include "../src/tcp_sockets.c"

#define WANT(condition, ...) \
  do { \
    if (!(condition)) fail_with(EXIT_WRONG_DATA, __VA_ARGS__); \
  } while (0)

static double now;
static char warning[256];
static int warnings;

double tcp_now(void) { return now; }

int tcp_warn(const char *what) {
  warnings++;
  snprintf(warning, sizeof warning, "%s", what);
  return NCCL_SYSTEM_ERROR;
}

static void want_warning(const char *end) {
  char whole[256];
  snprintf(whole, sizeof whole, "is rejected: %s", end);
  WANT(warnings == 1 && strncmp(warning, "a connection from ", 18) == 0 && strstr(warning, whole) != NULL,
       "%d warnings, the last of them: %s", warnings, warning);
  warnings = 0;
}

static struct tcp_listener *listener;
static struct handle *handle; /* in memory of the size of NCCL's handle */

static void begin(void) {
  warnings = 0;
  handle = calloc(1, 128);
  check(tcp_listen(handle, &listener), "listen");
}

static void end(void) {
  tcp_close_listener(listener);
  free(handle);
}

static int files_now(void) {
  DIR *entries = opendir("/proc/self/fd");
  WANT(entries != NULL, "no /proc/self/fd");
  int count = 0;
  while (readdir(entries) != NULL) count++;
  closedir(entries);
  return count;
}

/* Calls accept once, which must find no connection. */
static void accept_once(void) {
  struct tcp_sockets *sockets;
  check(tcp_accept(listener, &sockets), "accept");
  WANT(sockets == NULL, "a connection came of nothing");
}

static int connect_to_listener(void) {
  int fd = socket(handle->address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  WANT(fd >= 0 && connect(fd, &handle->address.any, handle->length) == 0, "no connection: %s", strerror(errno));
  return fd;
}

static void send_all(int fd, const void *data, size_t size) {
  WANT(send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size, "a connection can't send: %s", strerror(errno));
}

/* Calls accept until the listener closes the pending socket. */
static void want_evicted(int fd) {
  char byte;
  while (would_block(recv(fd, &byte, 1, MSG_DONTWAIT))) accept_once();
  progress();
  close(fd);
}

static void want_accepted_peer(void) {
  char again[128];
  memcpy(again, handle, sizeof again);
  struct tcp_sockets *here = NULL, *there = NULL;
  while (here == NULL || there == NULL) {
    if (there == NULL) check(tcp_connect(again, &there), "connect");
    if (here == NULL) check(tcp_accept(listener, &here), "accept");
  }
  progress();
  WANT(here->connection == there->connection, "another's sockets were accepted");
  for (int i = 0; i <= here->count; i++) {
    char byte = 0;
    send_all(*socket_at(there, (uint32_t)i), &(char){(char)i}, 1);
    while (would_block(recv(*socket_at(here, (uint32_t)i), &byte, 1, 0))) continue;
    WANT(byte == i, "socket %d is socket %d at the other end", i, byte);
  }
  tcp_close_sockets(here);
  tcp_close_sockets(there);
}

static void silent_connections_block_no_peer_and_hold_few_descriptors(void) {
  enum { CONNECTIONS = 3 * TCP_MOST_PENDING };
  int files = files_now(), fds[CONNECTIONS];
  begin();
  for (int i = 0; i < CONNECTIONS; i++) fds[i] = connect_to_listener();
  want_accepted_peer();
  WANT(files_now() <= files + 1 + CONNECTIONS + TCP_MOST_PENDING, "%d files", files_now() - files);
  WANT(strstr(warning, "too many others") != NULL, "said: %s", warning);
  end();
  for (int i = 0; i < CONNECTIONS; i++) close(fds[i]);
  WANT(files_now() == files, "%d files are left", files_now() - files);
}

static void slow_greeting_is_read_while_others_connect(void) {
  begin();
  struct greeting greeting = {.token = handle->token, .connection = 7};
  int slow[1 + 2 * 8];
  for (int i = 0; i <= handle->count; i++) {
    greeting.socket = (uint32_t)i;
    slow[i] = connect_to_listener();
    send_all(slow[i], &greeting, sizeof greeting - 1);
    accept_once();
  }
  want_accepted_peer();
  now += TCP_GREETING_SECONDS - 1;
  struct tcp_sockets *sockets = NULL;
  for (int i = 0; i <= handle->count; i++) send_all(slow[i], (char *)&greeting + sizeof greeting - 1, 1);
  while (sockets == NULL) check(tcp_accept(listener, &sockets), "accept");
  WANT(sockets->connection == 7 && warnings == 0, "not the slow one, or rejected: %s", warning);
  tcp_close_sockets(sockets);
  for (int i = 0; i <= handle->count; i++) close(slow[i]);
  end();
}

static void silent_connection_is_rejected_after_the_limit(void) {
  begin();
  int fd = connect_to_listener();
  while (listener->pending_connections[0].fd < 0) accept_once();
  now += TCP_GREETING_SECONDS + 1;
  want_evicted(fd);
  want_warning("it doesn't greet");
  end();
}

static void invalid_greeting_is_rejected_with_the_reason(void) {
  begin();
  int fd = connect_to_listener();
  send_all(fd, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 35);
  want_evicted(fd);
  want_warning("it hasn't got the handle of this listener");

  struct greeting greeting = {.token = handle->token, .connection = 1, .socket = (uint32_t)handle->count + 1};
  send_all(fd = connect_to_listener(), &greeting, sizeof greeting);
  want_evicted(fd);
  want_warning("it greets with a socket that this listener doesn't have");

  close(connect_to_listener());
  while (warnings == 0) accept_once();
  want_warning("it left without a greeting");

  greeting.socket = 3;
  int first = connect_to_listener();
  send_all(first, &greeting, sizeof greeting);
  while (listener->coming == NULL) accept_once();
  send_all(fd = connect_to_listener(), &greeting, sizeof greeting);
  want_evicted(fd);
  want_warning("a socket comes twice");
  want_accepted_peer();
  close(first);
  end();
}

int main(void) {
  watch_for_hang(30);
  setenv("NCCL_SOCKET_IFNAME", "lo", 1);
  setenv("NCCL_SOCKET_NTHREADS", "2", 1);
  setenv("NCCL_NSOCKS_PERTHREAD", "8", 1);
  silent_connections_block_no_peer_and_hold_few_descriptors();
  slow_greeting_is_read_while_others_connect();
  silent_connection_is_rejected_after_the_limit();
  invalid_greeting_is_rejected_with_the_reason();
  return 0;
}
