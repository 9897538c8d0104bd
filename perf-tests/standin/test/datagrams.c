/*
 * Tests of unreliable datagrams and multicast groups. Both ends are in one process; stock_programs.sh tests datagrams
 * between two processes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { HEADER = 40, KEY = 0x11223344, EVERYBODY = 0xffffff, AT = 1 << 16 };

static const union ibv_gid GROUP = {.raw = {0xff, 0x1e, [15] = 0x77}};

static int start_in(struct end *end, uint32_t key, uint16_t partition) {
  struct ibv_qp_attr wanted = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = key, .pkey_index = partition};
  int error = ibv_modify_qp(end->qp, &wanted, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  wanted.qp_state = IBV_QPS_RTR;
  if (error == 0) error = ibv_modify_qp(end->qp, &wanted, IBV_QP_STATE);
  wanted.qp_state = IBV_QPS_RTS;
  return error != 0 ? error : ibv_modify_qp(end->qp, &wanted, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

static int start(struct end *end, uint32_t key) { return start_in(end, key, 0); }

/* Opens an end whose queue pair is for datagrams instead of a connection. */
static struct end *open_datagrams_on(uint32_t device) {
  struct options options = usual_options();
  options.device = device;
  struct end *end = open_end(&options);
  CHECK(ibv_destroy_qp(end->qp) == 0, "replaced");
  struct ibv_qp_init_attr wanted = {
      .send_cq = end->cq,
      .recv_cq = end->cq,
      .qp_type = IBV_QPT_UD,
      .sq_sig_all = 1,
      .cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1}};
  end->qp = ibv_create_qp(end->pd, &wanted);
  CHECK(end->qp != NULL, "errno %d", errno);
  return end;
}

static struct end *open_datagrams(void) { return open_datagrams_on(0); }

static struct ibv_ah *handle_to(struct end *end, const union ibv_gid *gid) {
  struct ibv_ah_attr path = {.is_global = 1, .port_num = 1, .grh = {.dgid = *gid, .sgid_index = 1, .hop_limit = 1}};
  struct ibv_ah *handle = ibv_create_ah(end->pd, &path);
  CHECK(handle != NULL, "errno %d", errno);
  return handle;
}

static int send_to(struct end *end, struct ibv_ah *handle, uint32_t number, uint32_t key, uint32_t length) {
  struct ibv_sge sge = piece(end, 0, length);
  struct ibv_send_wr wanted = {.wr_id = 5,
                               .sg_list = &sge,
                               .num_sge = 1,
                               .opcode = IBV_WR_SEND_WITH_IMM,
                               .imm_data = htonl(0xbeef),
                               .wr.ud = {.ah = handle, .remote_qpn = number, .remote_qkey = key}};
  return post(end, &wanted);
}

static void datagram_arrives_after_its_header(bool in_child) {
  (void)in_child;
  struct end *left = open_datagrams(), *right = open_datagrams();
  struct address near = address_of(left), far = address_of(right);
  struct ibv_ah *handle = handle_to(left, &far.gid);
  CHECK(send_to(left, handle, far.number, KEY, 8) == EINVAL, "not before RTS");
  CHECK(start(left, KEY) == 0 && start(right, KEY) == 0, "states");
  for (uint32_t length = 0; length <= 4096; length += 2048) {
    fill(left->buffer, length, length);
    CHECK(post_receive_of(right, 9, AT, 8192) == 0, "receive");
    CHECK(send_to(left, handle, far.number, KEY, length) == 0, "send");
    CHECK(await(left, 1000).status == IBV_WC_SUCCESS, "sent");
    struct ibv_wc got = await(right, 1000);
    CHECK(got.status == IBV_WC_SUCCESS && got.wr_id == 9 && got.byte_len == HEADER + length, "length %u", got.byte_len);
    CHECK(got.src_qp == near.number && ntohl(got.imm_data) == 0xbeef && got.wc_flags == (IBV_WC_GRH | IBV_WC_WITH_IMM),
          "source %x, flags %x", got.src_qp, got.wc_flags);
    struct ibv_grh *header = (struct ibv_grh *)(right->buffer + AT);
    CHECK(memcmp(&header->sgid, &near.gid, 16) == 0 && memcmp(&header->dgid, &far.gid, 16) == 0, "addresses");
    CHECK(compare(right->buffer + AT + HEADER, length, length) == length, "bytes");
    struct ibv_ah *back = ibv_create_ah_from_wc(right->pd, &got, header, 1);
    CHECK(back != NULL && ibv_destroy_ah(back) == 0, "errno %d", errno);
  }
  CHECK(send_to(left, handle, far.number, KEY, 4097) == 0 && await(left, 1000).status == IBV_WC_LOC_LEN_ERR,
        "too long");
  CHECK(ibv_destroy_ah(handle) == 0, "handle");
  close_end(left);
  close_end(right);
}

static void datagram_without_receive_is_dropped(bool in_child) {
  (void)in_child;
  struct end *left = open_datagrams(), *right = open_datagrams();
  struct address far = address_of(right);
  struct ibv_ah *handle = handle_to(left, &far.gid);
  CHECK(start(left, KEY) == 0 && start(right, KEY) == 0, "states");
  CHECK(send_to(left, handle, far.number, KEY, 8) == 0 && await(left, 1000).status == IBV_WC_SUCCESS, "no receive");
  CHECK(post_receive_of(right, 9, AT, 8192) == 0, "receive");
  CHECK(send_to(left, handle, far.number, KEY + 1, 8) == 0 && await(left, 1000).status == IBV_WC_SUCCESS,
        "another key");
  CHECK(send_to(left, handle, far.number ^ 0x1000, KEY, 8) == 0 && await(left, 1000).status == IBV_WC_SUCCESS,
        "nobody");
  control("port 0/0 down");
  CHECK(send_to(left, handle, far.number, KEY, 8) == 0 && await(left, 1000).status == IBV_WC_SUCCESS, "no port");
  control("port 0/0 up");
  await_nothing(right, 5);
  CHECK(send_to(left, handle, far.number, KEY, 8) == 0 && await(right, 1000).status == IBV_WC_SUCCESS,
        "and one arrives");
  CHECK(ibv_destroy_ah(handle) == 0, "handle");
  close_end(left);
  close_end(right);
}

static void a_group_reaches_its_members(bool in_child) {
  (void)in_child;
  struct end *left = open_datagrams(), *members[2] = {open_datagrams(), open_datagrams()}, *other = open_datagrams();
  struct ibv_ah *handle = handle_to(left, &GROUP);
  CHECK(start(left, KEY) == 0 && start(other, KEY) == 0 && post_receive_of(other, 1, AT, 8192) == 0, "states");
  for (int i = 0; i < 2; i++) {
    CHECK(start(members[i], KEY) == 0 && post_receive_of(members[i], 1, AT, 8192) == 0, "states");
    CHECK(ibv_attach_mcast(members[i]->qp, &GROUP, 0) == 0 && ibv_attach_mcast(members[i]->qp, &GROUP, 0) == 0, "join");
    CHECK(ibv_destroy_qp(members[i]->qp) == EBUSY, "a member stays");
  }
  CHECK(send_to(left, handle, EVERYBODY, KEY, 100) == 0, "send");
  for (int i = 0; i < 2; i++) {
    CHECK(await(members[i], 1000).byte_len == HEADER + 100, "member %d", i);
    CHECK(ibv_detach_mcast(members[i]->qp, &GROUP, 0) == 0 && ibv_detach_mcast(members[i]->qp, &GROUP, 0) == EINVAL,
          "leave");
    CHECK(post_receive_of(members[i], 1, AT, 8192) == 0, "receive");
  }
  CHECK(send_to(left, handle, EVERYBODY, KEY, 100) == 0, "send");
  await_nothing(members[0], 5);
  await_nothing(other, 5);
  union ibv_gid unicast = address_of(left).gid;
  CHECK(ibv_attach_mcast(left->qp, &unicast, 0) == EINVAL, "no group");
  CHECK(ibv_destroy_ah(handle) == 0, "handle");
  for (int i = 0; i < 2; i++) close_end(members[i]);
  close_end(left);
  close_end(other);
}

static const uint8_t *ipv4_header_of(const struct end *end) { return (const uint8_t *)end->buffer + AT + 20; }

static void a_group_of_ipv4_has_its_header_in_the_last_bytes(bool in_child) {
  (void)in_child;
  static const union ibv_gid group = {.raw = {[10] = 0xff, [11] = 0xff, 239, 1, 1, 1}};
  struct end *left = open_datagrams(), *member = open_datagrams();
  struct ibv_ah *handle = handle_to(left, &group);
  CHECK(start(left, KEY) == 0 && start(member, KEY) == 0 && post_receive_of(member, 1, AT, 8192) == 0, "states");
  CHECK(ibv_attach_mcast(member->qp, &group, 0) == 0, "join");
  fill(left->buffer, 100, 7);
  CHECK(send_to(left, handle, EVERYBODY, KEY, 100) == 0, "send");
  CHECK(await(member, 1000).byte_len == HEADER + 100, "length");
  const uint8_t *header = ipv4_header_of(member);
  uint32_t sum = 0;
  for (int i = 0; i < 20; i += 2) sum += (uint32_t)header[i] << 8 | header[i + 1];
  CHECK(header[0] == 0x45 && memcmp(header + 16, group.raw + 12, 4) == 0, "group");
  CHECK((sum & 0xffff) + (sum >> 16) == 0xffff, "sum %x", sum);
  CHECK(compare(member->buffer + AT + HEADER, 100, 7) == 100, "bytes");
  CHECK(ibv_detach_mcast(member->qp, &group, 0) == 0 && ibv_destroy_ah(handle) == 0, "leave");
  close_end(left);
  close_end(member);
}

static void connected_queue_pairs_receive_no_datagrams(bool in_child) {
  (void)in_child;
  struct options options = usual_options();
  struct end *end = open_end(&options), *left = open_datagrams();
  struct address own = address_of(end), peer = address_of(left);
  connect_end(end, &own);
  CHECK(ibv_attach_mcast(end->qp, &GROUP, 0) == EINVAL, "a connection joins no group");
  struct ibv_ah *handle = handle_to(left, &own.gid);
  CHECK(start(left, KEY) == 0 && post_receive_of(end, 1, AT, 8192) == 0, "states");
  CHECK(send_to(left, handle, own.number, KEY, 8) == 0 && await(left, 1000).status == IBV_WC_SUCCESS, "send");
  await_nothing(end, 5);
  struct ibv_sge sge = piece(left, 0, 8);
  struct ibv_send_wr write = request(IBV_WR_RDMA_WRITE, 1, &sge, &peer, 0);
  CHECK(post(left, &write) == EINVAL, "datagrams don't write");
  CHECK(ibv_destroy_ah(handle) == 0, "handle");
  struct ibv_ah_attr path = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = 15}};
  CHECK(ibv_create_ah(left->pd, &path) == NULL && errno == EINVAL, "an address that isn't there");
  close_end(end);
  close_end(left);
}

/* ---- InfiniBand ---- */

enum { LEFT_LID = 1, RIGHT_LID = 2, GROUP_LID = 0xc000, UNTOUCHED = 0xee };

/* Sets up two devices of a host, before any device is opened. */
static void be_infiniband(void) {
  setenv("STANDIN_LINK", "infiniband", 1);
  setenv("STANDIN_DEVICES", "2", 1);
}

static struct ibv_ah *handle_by(struct end *end, struct ibv_ah_attr path) {
  path.port_num = 1;
  struct ibv_ah *handle = ibv_create_ah(end->pd, &path);
  CHECK(handle != NULL, "errno %d", errno);
  return handle;
}

static void vanishes(struct end *from, struct ibv_ah *handle, uint32_t number, struct end *to) {
  CHECK(send_to(from, handle, number, KEY, 100) == 0 && await(from, 1000).status == IBV_WC_SUCCESS, "sent");
  await_nothing(to, 5);
}

static struct ibv_wc arrives(struct end *from, struct ibv_ah *handle, uint32_t number, struct end *to) {
  memset(to->buffer + AT, UNTOUCHED, HEADER);
  CHECK(post_receive_of(to, 9, AT, 8192) == 0, "receive");
  fill(from->buffer, 100, 3);
  CHECK(send_to(from, handle, number, KEY, 100) == 0 && await(from, 1000).status == IBV_WC_SUCCESS, "sent");
  struct ibv_wc got = await(to, 1000);
  CHECK(got.status == IBV_WC_SUCCESS && got.byte_len == HEADER + 100, "status %d", got.status);
  CHECK(compare(to->buffer + AT + HEADER, 100, 3) == 100, "bytes");
  return got;
}

static void infiniband_datagram_has_lids_and_route_header_only_if_sent(bool in_child) {
  (void)in_child;
  be_infiniband();
  struct end *left = open_datagrams_on(0), *right = open_datagrams_on(1);
  struct address near = address_of(left), far = address_of(right);
  CHECK(start(left, KEY) == 0 && start(right, KEY) == 0, "states");
  struct ibv_ah *local = handle_by(left, (struct ibv_ah_attr){.dlid = RIGHT_LID, .sl = 3});
  struct ibv_wc got = arrives(left, local, far.number, right);
  CHECK(got.slid == LEFT_LID && got.sl == 3 && (got.wc_flags & IBV_WC_GRH) == 0, "slid %u, sl %u, flags %x", got.slid,
        got.sl, got.wc_flags);
  for (int i = 0; i < HEADER; i++) CHECK(right->buffer[AT + i] == UNTOUCHED, "byte %d", i);
  struct ibv_ah *back = ibv_create_ah_from_wc(right->pd, &got, (struct ibv_grh *)(right->buffer + AT), 1);
  CHECK(back != NULL, "errno %d", errno);
  CHECK(arrives(right, back, near.number, left).slid == RIGHT_LID, "and back");
  struct ibv_ah *global = handle_by(
      left, (struct ibv_ah_attr){.dlid = RIGHT_LID,
                                 .is_global = 1,
                                 .grh = {.dgid = far.gid, .sgid_index = 1, .hop_limit = 7, .traffic_class = 0x5a}});
  got = arrives(left, global, far.number, right);
  const struct ibv_grh *header = (const struct ibv_grh *)(right->buffer + AT);
  CHECK((got.wc_flags & IBV_WC_GRH) != 0 && got.slid == LEFT_LID, "flags %x", got.wc_flags);
  CHECK(memcmp(&header->sgid, &near.gid, 16) == 0 && memcmp(&header->dgid, &far.gid, 16) == 0, "addresses");
  CHECK(header->hop_limit == 7 && header->next_hdr == 0x1b, "hops %u", header->hop_limit);
  CHECK(ntohl(header->version_tclass_flow) >> 20 == 0x65a, "class");
  struct ibv_ah *elsewhere = handle_by(left, (struct ibv_ah_attr){.dlid = 77});
  CHECK(post_receive_of(right, 9, AT, 8192) == 0, "receive");
  vanishes(left, elsewhere, far.number, right);
  struct ibv_ah_attr bad = {.port_num = 1};
  CHECK(ibv_create_ah(left->pd, &bad) == NULL && errno == EINVAL, "no LID");
  bad.dlid = GROUP_LID;
  CHECK(ibv_create_ah(left->pd, &bad) == NULL && errno == EINVAL, "a group without GID");
  CHECK(ibv_destroy_ah(local) == 0 && ibv_destroy_ah(back) == 0 && ibv_destroy_ah(global) == 0 &&
            ibv_destroy_ah(elsewhere) == 0,
        "handles");
  close_end(left);
  close_end(right);
}

static void infiniband_group_needs_its_lid_and_joined_ports(bool in_child) {
  (void)in_child;
  be_infiniband();
  struct end *left = open_datagrams_on(0), *right = open_datagrams_on(1);
  CHECK(start(left, KEY) == 0 && start(right, KEY) == 0, "states");
  control("join 0/1 ff1e::77");
  CHECK(ibv_attach_mcast(right->qp, &GROUP, 0) == EINVAL && ibv_attach_mcast(right->qp, &GROUP, RIGHT_LID) == EINVAL,
        "no LID of a group");
  CHECK(ibv_attach_mcast(right->qp, &GROUP, GROUP_LID + 1) == EINVAL, "the LID of another one");
  CHECK(ibv_attach_mcast(right->qp, &GROUP, GROUP_LID) == 0, "its own");
  struct ibv_ah_attr path = {
      .dlid = GROUP_LID, .is_global = 1, .sl = 2, .grh = {.dgid = GROUP, .sgid_index = 1, .hop_limit = 0}};
  struct ibv_ah *handle = handle_by(left, path);
  CHECK(post_receive_of(right, 9, AT, 8192) == 0, "receive");
  vanishes(left, handle, EVERYBODY, right); /* the sender's port hasn't joined the group */
  control("send 0/0 ff1e::77");
  CHECK(send_to(left, handle, EVERYBODY, KEY, 100) == 0 && await(left, 1000).status == IBV_WC_SUCCESS, "sent");
  struct ibv_wc got = await(right, 1000);
  CHECK(got.slid == LEFT_LID && got.sl == 2 && (got.wc_flags & IBV_WC_GRH) != 0, "slid %u", got.slid);
  path.dlid = GROUP_LID + 1;
  struct ibv_ah *other = handle_by(left, path);
  CHECK(post_receive_of(right, 9, AT, 8192) == 0, "receive");
  vanishes(left, other, EVERYBODY, right);
  control("leave 0/1 ff1e::77");
  control("send 0/1 ff1e::77");
  vanishes(left, handle, EVERYBODY, right); /* the receiver's port has joined only to send */
  CHECK(ibv_detach_mcast(right->qp, &GROUP, GROUP_LID + 1) == EINVAL, "the LID of another one");
  CHECK(ibv_detach_mcast(right->qp, &GROUP, GROUP_LID) == 0, "leave");
  CHECK(ibv_destroy_ah(handle) == 0 && ibv_destroy_ah(other) == 0, "handles");
  close_end(left);
  close_end(right);
}

static void partitions_are_isolated(bool in_child) {
  (void)in_child;
  be_infiniband();
  setenv("STANDIN_PKEYS", "0xffff,0x8001,0x0001", 1);
  struct end *left = open_datagrams_on(0), *right = open_datagrams_on(1);
  CHECK(ibv_get_pkey_index(left->context, 1, htons(0x8001)) == 1, "index");
  CHECK(ibv_get_pkey_index(left->context, 1, htons(0x8002)) == -1 && errno == ENOENT, "no such partition");
  CHECK(start_in(left, KEY, 3) == EINVAL && start_in(left, KEY, 200) == EINVAL, "no such entry");
  CHECK(start_in(left, KEY, 1) == 0 && start_in(right, KEY, 1) == 0, "states");
  uint32_t number = right->qp->qp_num;
  struct ibv_ah *handle = handle_by(left, (struct ibv_ah_attr){.dlid = RIGHT_LID});
  arrives(left, handle, number, right);
  CHECK(to_state(left, IBV_QPS_RESET) == 0 && start_in(left, KEY, 2) == 0, "a limited member");
  arrives(left, handle, number, right);
  CHECK(to_state(right, IBV_QPS_RESET) == 0 && start_in(right, KEY, 2) == 0, "both are");
  CHECK(post_receive_of(right, 9, AT, 8192) == 0, "receive");
  vanishes(left, handle, number, right);
  CHECK(to_state(left, IBV_QPS_RESET) == 0 && start_in(left, KEY, 0) == 0, "another partition");
  vanishes(left, handle, number, right);
  CHECK(ibv_destroy_ah(handle) == 0, "handle");
  close_end(left);
  close_end(right);
}

int main(int count, char **words) {
  static const struct test tests[] = {
      {"datagram_arrives_after_its_header", datagram_arrives_after_its_header},
      {"datagram_without_receive_is_dropped", datagram_without_receive_is_dropped},
      {"a_group_reaches_its_members", a_group_reaches_its_members},
      {"a_group_of_ipv4_has_its_header_in_the_last_bytes", a_group_of_ipv4_has_its_header_in_the_last_bytes},
      {"connected_queue_pairs_receive_no_datagrams", connected_queue_pairs_receive_no_datagrams},
      {"infiniband_datagram_has_lids_and_route_header_only_if_sent",
       infiniband_datagram_has_lids_and_route_header_only_if_sent},
      {"infiniband_group_needs_its_lid_and_joined_ports", infiniband_group_needs_its_lid_and_joined_ports},
      {"partitions_are_isolated", partitions_are_isolated},
      {NULL, NULL}};
  return run_tests(tests, count, words);
}
