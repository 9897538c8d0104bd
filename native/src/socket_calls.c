/*
 * System calls of the soft device's data path. Java calls them as critical calls, by the addresses that jvm_start.c
 * passes: none of them blocks. Each returns the system call's result or the negated errno. If Java had to preserve
 * errno instead, each call would cost over 0.1 us more in C1 code.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/udp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

static int64_t result_of(int64_t returned) { return returned < 0 ? -errno : returned; }

/* Sends with a control message only if segment isn't 0: a control message takes the kernel 150 ns. */
static int64_t send_train(int64_t socket, int64_t address, int64_t bytes, int64_t segment, int64_t unused) {
  (void)unused;
  if (segment == 0) return result_of(send((int)socket, (const void *)address, (size_t)bytes, MSG_DONTWAIT));
  struct iovec train = {(void *)address, (size_t)bytes};
  struct {
    struct cmsghdr header;
    uint16_t segment;
  } control = {{.cmsg_len = CMSG_LEN(sizeof control.segment), .cmsg_level = SOL_UDP, .cmsg_type = UDP_SEGMENT},
               (uint16_t)segment};
  struct msghdr message = {
      .msg_iov = &train, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  return result_of(sendmsg((int)socket, &message, MSG_DONTWAIT));
}

static int64_t receive_messages(int64_t socket, int64_t messages, int64_t count, int64_t unused, int64_t unused_2) {
  (void)unused, (void)unused_2;
  return result_of(recvmmsg((int)socket, (struct mmsghdr *)messages, (unsigned)count, MSG_DONTWAIT, NULL));
}

static int64_t ready_files(int64_t epoll, int64_t events, int64_t most, int64_t unused, int64_t unused_2) {
  (void)unused, (void)unused_2;
  return result_of(epoll_wait((int)epoll, (struct epoll_event *)events, (int)most, 0));
}

static int64_t send_pages(int64_t pipe_in, int64_t pipe_out, int64_t socket, int64_t address, int64_t bytes) {
  struct iovec pages = {(void *)address, (size_t)bytes};
  int64_t taken = result_of(vmsplice((int)pipe_in, &pages, 1, SPLICE_F_NONBLOCK));
  if (taken != bytes) return taken >= 0 || taken == -EAGAIN ? -ENOSPC : taken;
  int64_t left = result_of(splice((int)pipe_out, NULL, (int)socket, NULL, (size_t)bytes, SPLICE_F_NONBLOCK));
  return left == bytes ? 0 : left < 0 ? left : -EIO;
}

const struct heddle_socket_calls heddle_socket_calls = {send_train, receive_messages, ready_files, send_pages};
