/* Tests of InfiniBand groups that programs join through the stand-in for librdmacm. */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { FAMILY_IB = 27, MULTICAST_NUMBER = 0xffffff };

static struct rdma_event_channel *channel;

static struct rdma_cm_id *bound(const char *text) {
  setenv("STANDIN_LINK", "infiniband", 1);
  setenv("STANDIN_DEVICES", "2", 1);
  setenv("STANDIN_IPOIB", "10.9.0.1;10.9.0.2@0x8001,fd09::2", 1);
  setenv("STANDIN_SL", "4", 1);
  channel = rdma_create_event_channel();
  struct rdma_cm_id *id;
  CHECK(channel != NULL && rdma_create_id(channel, &id, NULL, RDMA_PS_UDP) == 0, "errno %d", errno);
  struct sockaddr_in four = {.sin_family = AF_INET};
  inet_pton(AF_INET, text, &four.sin_addr);
  CHECK(rdma_bind_addr(id, (struct sockaddr *)&four) == 0, "errno %d", errno);
  return id;
}

static void end(struct rdma_cm_id *id) {
  CHECK(rdma_destroy_id(id) == 0, "id");
  rdma_destroy_event_channel(channel);
}

static struct ibv_ah_attr joined(struct rdma_cm_id *id) {
  struct rdma_cm_event *event;
  CHECK(rdma_get_cm_event(channel, &event) == 0, "errno %d", errno);
  CHECK(event->event == RDMA_CM_EVENT_MULTICAST_JOIN && event->id == id, "event %d", event->event);
  CHECK(event->param.ud.qp_num == MULTICAST_NUMBER && event->param.ud.qkey == RDMA_UDP_QKEY,
        "number and key to send with");
  struct ibv_ah_attr path = event->param.ud.ah_attr;
  CHECK(rdma_ack_cm_event(event) == 0, "acknowledged");
  CHECK(path.is_global == 1 && path.port_num == 1 && path.sl == 4, "path");
  return path;
}

static void expect(struct ibv_ah_attr path, const char *gid, uint16_t lid) {
  union ibv_gid wanted;
  inet_pton(AF_INET6, gid, wanted.raw);
  CHECK(memcmp(&wanted, &path.grh.dgid, sizeof wanted) == 0, "not %s", gid);
  CHECK(path.dlid == lid, "LID %x", path.dlid);
}

static void each_kind_of_address_has_its_mgid(bool in_child) {
  (void)in_child;
  struct rdma_cm_id *id = bound("10.9.0.2");
  CHECK(strcmp(ibv_get_device_name(id->verbs->device), "standin1") == 0, "device");
  CHECK(ntohs(id->route.addr.addr.ibaddr.pkey) == 0x8001, "partition");
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xef810203)};
  CHECK(rdma_join_multicast(id, (struct sockaddr *)&four, NULL) == 0, "errno %d", errno);
  expect(joined(id), "ff12:4001:8001::f81:203", 0xc000);
  struct sockaddr_in6 six = {.sin6_family = AF_INET6};
  inet_pton(AF_INET6, "ff15:1:2:3:4:5:6:7", &six.sin6_addr);
  CHECK(rdma_join_multicast(id, (struct sockaddr *)&six, NULL) == 0, "errno %d", errno);
  expect(joined(id), "ff12:6001:8001:3:4:5:6:7", 0xc001);
  inet_pton(AF_INET6, "ff15:a01b::1267:ef01:203", &six.sin6_addr);
  CHECK(rdma_join_multicast(id, (struct sockaddr *)&six, NULL) == 0, "errno %d", errno);
  expect(joined(id), "ff15:a01b::1267:ef01:203", 0xc002);
  struct sockaddr_ib ib = {.sib_family = FAMILY_IB};
  inet_pton(AF_INET6, "ff15:401b:8001::1:2", &ib.sib_addr);
  CHECK(rdma_join_multicast(id, (struct sockaddr *)&ib, NULL) == 0, "errno %d", errno);
  expect(joined(id), "ff15:401b:8001::1:2", 0xc003);
  CHECK(rdma_leave_multicast(id, (struct sockaddr *)&ib) == 0, "leave");
  CHECK(rdma_leave_multicast(id, (struct sockaddr *)&ib) == -1 && errno == EADDRNOTAVAIL, "it has left");
  end(id);
}

static void failed_join_reports_the_reason(bool in_child) {
  (void)in_child;
  struct rdma_cm_id *id = bound("10.9.0.1"), *other;
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a090909)};
  CHECK(rdma_create_id(channel, &other, NULL, RDMA_PS_UDP) == 0, "errno %d", errno);
  CHECK(rdma_bind_addr(other, (struct sockaddr *)&four) == -1 && errno == ENODEV, "nobody's address");
  four.sin_addr.s_addr = htonl(0xef010203);
  CHECK(rdma_join_multicast(other, (struct sockaddr *)&four, NULL) == -1 && errno == EINVAL, "it has no port");
  CHECK(rdma_destroy_id(other) == 0, "id");
  control("refuse 0/0 rdma_join_multicast_ex %d", EOPNOTSUPP);
  struct rdma_cm_join_mc_attr_ex wanted = {.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
                                           .join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
                                           .addr = (struct sockaddr *)&four};
  CHECK(rdma_join_multicast_ex(id, &wanted, NULL) == -1 && errno == EOPNOTSUPP, "the manager doesn't know that");
  control("port 0/0 down");
  CHECK(rdma_join_multicast_ex(id, &wanted, NULL) == 0, "errno %d", errno);
  struct rdma_cm_event *event;
  CHECK(rdma_get_cm_event(channel, &event) == 0 && event->event == RDMA_CM_EVENT_MULTICAST_ERROR, "nobody answers");
  CHECK(event->status == -ETIMEDOUT && rdma_ack_cm_event(event) == 0, "status");
  end(id);
}

static void restarted_subnet_manager_assigns_other_lids(bool in_child) {
  (void)in_child;
  struct rdma_cm_id *id = bound("10.9.0.1");
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xef010203)};
  CHECK(rdma_join_multicast(id, (struct sockaddr *)&four, &four) == 0, "errno %d", errno);
  expect(joined(id), "ff12:4001:ffff::f01:203", 0xc000);
  control("forget");
  struct rdma_cm_event *event;
  CHECK(rdma_get_cm_event(channel, &event) == 0 && event->event == RDMA_CM_EVENT_MULTICAST_ERROR, "it is notified");
  CHECK(event->param.ud.private_data == &four && event->status == -ENETRESET, "of which");
  CHECK(rdma_ack_cm_event(event) == 0, "acknowledged");
  CHECK(rdma_leave_multicast(id, (struct sockaddr *)&four) == 0, "leave");
  CHECK(rdma_join_multicast(id, (struct sockaddr *)&four, NULL) == 0, "errno %d", errno);
  expect(joined(id), "ff12:4001:ffff::f01:203", 0xc100);
  end(id);
}

int main(int count, char **words) {
  static const struct test tests[] = {
      {"each_kind_of_address_has_its_mgid", each_kind_of_address_has_its_mgid},
      {"failed_join_reports_the_reason", failed_join_reports_the_reason},
      {"restarted_subnet_manager_assigns_other_lids", restarted_subnet_manager_assigns_other_lids},
      {NULL, NULL}};
  return run_tests(tests, count, words);
}
