/* Tests the system calls of the data path over the loopback interface: their results on success and on each failure. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../src/shim.h"

#define MOST_PAGE 65536 /* largest page size, which some arm64 kernels have */
#define HALF 4096
#define BYTES (2 * HALF)
#define TOO_LONG 70000

static int failures;

static void expect(const char *what, int64_t wanted, int64_t got) {
  if (wanted == got) return;
  printf("%s: %lld, not %lld\n", what, (long long)got, (long long)wanted);
  failures++;
}

static int bound_socket(struct sockaddr_in6 *address) {
  socklen_t length = sizeof *address;
  int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  *address = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
  if (fd < 0 || bind(fd, (struct sockaddr *)address, length) != 0 ||
      getsockname(fd, (struct sockaddr *)address, &length) != 0) {
    perror("a socket on ::1");
    exit(1);
  }
  return fd;
}

static int64_t send_bytes(int fd, const uint8_t *bytes, int64_t length, int64_t segment) {
  return heddle_socket_calls.send(fd, (int64_t)bytes, length, segment, 0);
}

/* Receives one datagram by one call of the shim. Returns its length, or the call's result. */
static int64_t received(int fd, uint8_t *to, size_t room) {
  struct iovec vector = {to, room};
  struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &vector, .msg_iovlen = 1}}};
  int64_t count = heddle_socket_calls.receive(fd, (int64_t)messages, 1, 0, 0);
  return count == 1 ? (int64_t)messages[0].msg_len : count;
}

static int64_t ready(int epoll) {
  struct epoll_event events[2];
  return heddle_socket_calls.ready(epoll, (int64_t)events, 2, 0, 0);
}

static int64_t send_pages(const int *pipe_ends, int fd, const uint8_t *bytes) {
  return heddle_socket_calls.send_pages(pipe_ends[1], pipe_ends[0], fd, (int64_t)bytes, BYTES);
}

static void empty(const int *pipe_ends) {
  uint8_t rest[BYTES];
  while (read(pipe_ends[0], rest, sizeof rest) > 0) continue;
}

int main(void) {
  /* The sent bytes span two pages, whatever the page size. */
  static uint8_t pages[2 * MOST_PAGE] __attribute__((aligned(MOST_PAGE))), got[BYTES], too_long[TOO_LONG];
  uint8_t *sent = pages + MOST_PAGE - HALF;
  int page = (int)sysconf(_SC_PAGESIZE);
  for (size_t i = 0; i < BYTES; i++) sent[i] = (uint8_t)(i * 7 + i / HALF);
  struct sockaddr_in6 from_address, to_address;
  int from = bound_socket(&from_address), to = bound_socket(&to_address);
  int epoll = epoll_create1(0);
  struct epoll_event wanted = {.events = EPOLLIN};
  int ends[2];
  if (connect(from, (struct sockaddr *)&to_address, sizeof to_address) != 0 ||
      epoll_ctl(epoll, EPOLL_CTL_ADD, to, &wanted) != 0 || pipe2(ends, O_NONBLOCK) != 0) {
    perror("the sockets of this test");
    return 1;
  }

  expect("nothing to receive", -EAGAIN, received(to, got, BYTES));
  expect("nothing is ready", 0, ready(epoll));
  expect("sent", 100, send_bytes(from, sent, 100, 0));
  expect("one is ready", 1, ready(epoll));
  expect("received", 100, received(to, got, BYTES));
  expect("its bytes", 0, memcmp(sent, got, 100));
  expect("a train sent", 250, send_bytes(from, sent, 250, 100));
  expect("its first datagram", 100, received(to, got, BYTES));
  expect("its second", 100, received(to, got + 100, BYTES - 100));
  expect("its last, which is shorter", 50, received(to, got + 200, BYTES - 200));
  expect("their bytes", 0, memcmp(sent, got, 250));
  expect("too long for a datagram", -EMSGSIZE, send_bytes(from, too_long, TOO_LONG, 0));
  expect("too long for a train", -EMSGSIZE, send_bytes(from, too_long, TOO_LONG, 1000));
  expect("send on no socket", -EBADF, send_bytes(-1, sent, 100, 0));
  expect("a train on no socket", -EBADF, send_bytes(-1, sent, 250, 100));
  expect("receive on no socket", -EBADF, received(-1, got, BYTES));
  expect("ready of no epoll", -EBADF, ready(-1));

  expect("sent without a copy", 0, send_pages(ends, from, sent));
  expect("received the pages", BYTES, received(to, got, BYTES));
  expect("its bytes", 0, memcmp(sent, got, BYTES));
  expect("send to no socket", -EBADF, send_pages(ends, -1, sent));
  empty(ends);
  expect("send through no pipe", -EBADF, send_pages((int[]){-1, -1}, from, sent));
  fcntl(ends[1], F_SETPIPE_SZ, page);
  expect("a pipe with room for less", -ENOSPC, send_pages(ends, from, sent));
  expect("a pipe that is full", -ENOSPC, send_pages(ends, from, sent));
  empty(ends);
  fcntl(ends[1], F_SETPIPE_SZ, 16 * page);
  expect("sent through it when it has room", 0, send_pages(ends, from, sent));
  expect("received that", BYTES, received(to, got, BYTES));

  close(to);
  expect("to a port that is closed", 0, send_bytes(from, sent, 0, 0));
  expect("what came of it", -ECONNREFUSED, send_bytes(from, sent, 0, 0));
  return failures > 0;
}
