/*
 * Two alternatives with which Heddle's multicast bridge is compared, between two IPv4 interfaces: a forwarder that only
 * receives and sends, and the kernel's own multicast routing. Both forward from IN to OUT only, and run until standard
 * input ends.
 *
 *   heddle-datagram-forwarder forward IN OUT GROUP    binds RoCEv2's port on IN and sends GROUP's datagrams on OUT
 *   heddle-datagram-forwarder route IN OUT GROUP      has the kernel route GROUP
 *
 * The forwarder receives and sends several datagrams per call. It adds no CRC, so real receivers drop its datagrams.
 * Its cost is the lower bound for a program that forwards datagrams.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/mroute.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROCE_PORT = 4791, BATCH = 64, ROOM = 9216, BUFFER_BYTES = 32 << 20 };

static void fail(const char *what) {
  fprintf(stderr, "heddle: %s: %s\n", what, strerror(errno));
  exit(1);
}

static unsigned int index_of(const char *interface) {
  unsigned int index = if_nametoindex(interface);

  if (index == 0) fail(interface);
  return index;
}

static int open_socket(const char *interface) {
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(ROCE_PORT)};
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int bytes = BUFFER_BYTES;

  if (fd < 0) fail("socket");
  if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface, strlen(interface) + 1) != 0) fail("SO_BINDTODEVICE");
  /* Sets the buffer sizes to those of the bridge, if the process has the permission. */
  setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
  if (bind(fd, (struct sockaddr *)&any, sizeof any) != 0) fail("bind to port 4791");
  return fd;
}

static void ready(void) {
  puts("ready");
  fflush(stdout);
}

static void send_all(int fd, struct mmsghdr *messages, int count) {
  int done = 0;

  while (done < count) {
    int sent = sendmmsg(fd, messages + done, (unsigned int)(count - done), 0);

    if (sent > 0) {
      done += sent;
    } else if (errno == EAGAIN || errno == ENOBUFS) {
      struct pollfd room = {.fd = fd, .events = POLLOUT};

      poll(&room, 1, 10);
    } else if (errno != EINTR) {
      fail("sendmmsg");
    }
  }
}

static void forward(const char *in, const char *out, struct in_addr group) {
  static char buffers[BATCH][ROOM];
  static struct iovec vectors[BATCH];
  static struct mmsghdr messages[BATCH];
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(ROCE_PORT), .sin_addr = group};
  struct ip_mreqn join = {.imr_multiaddr = group, .imr_ifindex = (int)index_of(in)};
  struct ip_mreqn leave_by = {.imr_ifindex = (int)index_of(out)};
  int from = open_socket(in);
  int onto = open_socket(out);
  int no = 0;
  struct pollfd waits[] = {{.fd = from, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};

  if (setsockopt(from, IPPROTO_IP, IP_ADD_MEMBERSHIP, &join, sizeof join) != 0) fail("IP_ADD_MEMBERSHIP");
  if (setsockopt(onto, IPPROTO_IP, IP_MULTICAST_IF, &leave_by, sizeof leave_by) != 0 ||
      setsockopt(onto, IPPROTO_IP, IP_MULTICAST_LOOP, &no, sizeof no) != 0)
    fail("IP_MULTICAST_IF");
  ready();
  for (;;) {
    int count;

    for (int i = 0; i < BATCH; i++) {
      vectors[i] = (struct iovec){buffers[i], ROOM};
      messages[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i], .msg_iovlen = 1};
    }
    count = recvmmsg(from, messages, BATCH, MSG_DONTWAIT, NULL);
    if (count > 0) {
      for (int i = 0; i < count; i++) {
        vectors[i].iov_len = messages[i].msg_len;
        messages[i].msg_hdr.msg_name = &to;
        messages[i].msg_hdr.msg_namelen = sizeof to;
      }
      send_all(onto, messages, count);
      continue;
    }
    if (count < 0 && errno != EAGAIN && errno != EINTR) fail("recvmmsg");
    if (poll(waits, 2, -1) < 0 && errno != EINTR) fail("poll");
    if (waits[1].revents != 0) exit(0);
  }
}

static void add_interface(int fd, unsigned short number, const char *interface) {
  struct vifctl vif = {.vifc_vifi = number, .vifc_flags = VIFF_USE_IFINDEX, .vifc_threshold = 1};

  vif.vifc_lcl_ifindex = (int)index_of(interface);
  if (setsockopt(fd, IPPROTO_IP, MRT_ADD_VIF, &vif, sizeof vif) != 0) fail("MRT_ADD_VIF");
}

static void route(const char *in, const char *out, struct in_addr group) {
  /* Routes datagrams of the group from any source on the first interface. */
  struct mfcctl entry = {.mfcc_mcastgrp = group, .mfcc_parent = 0};
  struct ip_mreqn join = {.imr_multiaddr = group, .imr_ifindex = (int)index_of(in)};
  int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_IGMP);
  int member = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  int yes = 1;
  char byte;

  if (fd < 0 || member < 0) fail("socket");
  if (setsockopt(fd, IPPROTO_IP, MRT_INIT, &yes, sizeof yes) != 0)
    fail("MRT_INIT: the kernel has no multicast routing (CONFIG_IP_MROUTE), or another program has it");
  add_interface(fd, 0, in);
  add_interface(fd, 1, out);
  /*
   * an (*, G) entry needs its incoming interface among the outgoing ones; the kernel sends nothing back to the incoming
   * one
   */
  entry.mfcc_ttls[0] = 1;
  entry.mfcc_ttls[1] = 1;
  if (setsockopt(fd, IPPROTO_IP, MRT_ADD_MFC, &entry, sizeof entry) != 0) fail("MRT_ADD_MFC");
  if (setsockopt(member, IPPROTO_IP, IP_ADD_MEMBERSHIP, &join, sizeof join) != 0) fail("IP_ADD_MEMBERSHIP");
  ready();
  while (read(STDIN_FILENO, &byte, 1) > 0)
    ;
}

int main(int argc, char **argv) {
  struct in_addr group;
  int forwards = argc == 5 && strcmp(argv[1], "forward") == 0;

  if (argc != 5 || (!forwards && strcmp(argv[1], "route") != 0) || inet_pton(AF_INET, argv[4], &group) != 1) {
    fprintf(stderr, "usage: heddle-datagram-forwarder forward|route IN OUT GROUP\n");
    return 2;
  }
  if (forwards)
    forward(argv[2], argv[3], group);
  else
    route(argv[2], argv[3], group);
  return 0;
}
