/*
 * Tests of the control program's effects on ports, addresses and verbs, and of the effect of a process's death on its
 * peer.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

static void await_status(struct end *end, uint64_t id, enum ibv_wc_status status) {
  struct ibv_wc completion = await(end, 10000);
  CHECK(completion.wr_id == id && completion.status == status, "id %llu has status %d",
        (unsigned long long)completion.wr_id, completion.status);
}

static void post_write(struct couple *both, uint64_t id) {
  struct ibv_sge sge = piece(both->first, 0, 64);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, id, &sge, &both->far, 0);
  CHECK(post(both->first, &wanted) == 0, "post");
}

static enum ibv_port_state port_state(struct end *end) {
  struct ibv_port_attr port;
  CHECK(ibv_query_port(end->context, 1, &port) == 0, "query");
  return port.state;
}

static void a_port_that_goes_down_ends_its_connections(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  control("port 0/0 down");
  CHECK(await_event(both.first, 1000) == IBV_EVENT_PORT_ERR && port_state(both.first) == IBV_PORT_DOWN, "down");
  post_write(&both, 1);
  await_status(both.first, 1, IBV_WC_RETRY_EXC_ERR);
  CHECK(state_of(both.first) == IBV_QPS_ERR, "state");
  control("port 0/0 up");
  CHECK(await_event(both.first, 1000) == IBV_EVENT_PORT_ACTIVE && port_state(both.first) == IBV_PORT_ACTIVE, "up");
  close_couple(both);
}

static void a_short_outage_is_survived(bool in_child) {
  struct options options = usual_options();
  options.timeout = 17; /* 0.54 s, for each of four transmissions */
  struct couple both = couple(&options, in_child);
  control("port %d/0 down", in_child);
  post_write(&both, 1);
  await_nothing(both.first, 50);
  control("port %d/0 up", in_child);
  await_status(both.first, 1, IBV_WC_SUCCESS);
  close_couple(both);
}

static void a_silent_port_looks_healthy(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  control("silent %d/0 on", in_child);
  CHECK(port_state(both.first) == IBV_PORT_ACTIVE, "state");
  post_write(&both, 1);
  await_status(both.first, 1, IBV_WC_RETRY_EXC_ERR);
  close_couple(both);
}

static void cut_address_does_not_affect_others(bool in_child) {
  struct options options = usual_options();
  options.gid_index = 2;
  struct couple both = couple(&options, in_child);
  control("cut 0/0 3");
  post_write(&both, 1);
  await_status(both.first, 1, IBV_WC_SUCCESS);
  control("cut 0/0 2");
  post_write(&both, 2);
  await_status(both.first, 2, IBV_WC_RETRY_EXC_ERR);
  control("heal 0/0 2");
  CHECK(to_state(both.first, IBV_QPS_RESET) == 0 && second_to_state(both.second, IBV_QPS_RESET) == 0, "reset");
  second_connect(both.second, &both.near);
  connect_end(both.first, &both.far);
  post_write(&both, 3);
  await_status(both.first, 3, IBV_WC_SUCCESS);
  close_couple(both);
}

static void addresses_come_and_go(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  struct ibv_gid_entry entries[16];
  ssize_t before = ibv_query_gid_table(both.first->context, entries, 16, 0);
  control("gid 0/0 9 fd00:9::9");
  CHECK(await_event(both.first, 1000) == IBV_EVENT_GID_CHANGE, "event");
  CHECK(ibv_query_gid_table(both.first->context, entries, 16, 0) == before + 1 && entries[before].gid_index == 9,
        "added");
  control("gid 0/0 1 none");
  CHECK(await_event(both.first, 1000) == IBV_EVENT_GID_CHANGE, "event");
  union ibv_gid gid;
  CHECK(ibv_query_gid_ex(both.first->context, 1, 1, entries, 0) == ENODATA, "an empty entry");
  CHECK(ibv_query_gid(both.first->context, 1, 1, &gid) == 0 && gid.global.interface_id == 0, "is zero to the old verb");
  CHECK(ibv_query_gid(both.first->context, 1, 16, &gid) == -1 && errno == EINVAL, "beyond the table");
  post_write(&both, 1);
  await_status(both.first, 1, IBV_WC_RETRY_EXC_ERR); /* queue pairs bound to the removed address can't send any more */
  close_couple(both);
}

static void statuses_are_injected(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  control("fail 0/0 IBV_WC_REM_OP_ERR 1 2");
  for (uint64_t i = 0; i < 4; i++) post_write(&both, i);
  await_status(both.first, 0, IBV_WC_SUCCESS);
  await_status(both.first, 1, IBV_WC_SUCCESS);
  await_status(both.first, 2, IBV_WC_REM_OP_ERR);
  await_status(both.first, 3, IBV_WC_WR_FLUSH_ERR);
  close_couple(both);
}

static void verbs_are_refused(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  control("refuse 0/0 ibv_reg_mr 12 2 1");
  struct ibv_mr *first = ibv_reg_mr(both.first->pd, both.first->buffer, 64, 0);
  CHECK(first != NULL && ibv_dereg_mr(first) == 0, "the first one succeeds");
  for (int i = 0; i < 2; i++) {
    CHECK(ibv_reg_mr(both.first->pd, both.first->buffer, 64, 0) == NULL && errno == ENOMEM, "errno %d", errno);
  }
  first = ibv_reg_mr(both.first->pd, both.first->buffer, 64, 0);
  CHECK(first != NULL && ibv_dereg_mr(first) == 0, "the fourth one, too");
  control("refuse 0/0 ibv_modify_qp 110");
  CHECK(to_state(both.first, IBV_QPS_ERR) == ETIMEDOUT && to_state(both.first, IBV_QPS_ERR) == 0, "once");
  close_couple(both);
}

static void device_events_are_delivered(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  control("event 0/0 IBV_EVENT_DEVICE_FATAL");
  CHECK(await_event(both.first, 1000) == IBV_EVENT_DEVICE_FATAL, "event");
  control("event 0/0 IBV_EVENT_LID_CHANGE");
  CHECK(await_event(both.first, 1000) == IBV_EVENT_LID_CHANGE, "event");
  close_couple(both);
}

static void killed_peer_stops_answering(bool in_child) {
  if (!in_child) return;
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  post_write(&both, 1);
  await_status(both.first, 1, IBV_WC_SUCCESS);
  kill_second(both.second);
  post_write(&both, 2);
  await_status(both.first, 2, IBV_WC_RETRY_EXC_ERR);
  close_couple(both);
}

/* Makes a connection per plane, as Heddle does. */
static void each_address_counts_what_it_sent(bool in_child) {
  struct options options = usual_options();
  struct couple both[4];
  options.gid_index = 1;
  both[0] = couple(&options, in_child);
  for (int i = 1; i < 4; i++) {
    options.gid_index = i + 1;
    both[i] = couple(&options, false);
  }
  for (int i = 0; i < 4; i++) {
    for (int times = 0; times <= i; times++) {
      post_write(&both[i], 1);
      await_status(both[i].first, 1, IBV_WC_SUCCESS);
    }
  }
  for (int i = 0; i < 4; i++) {
    control("show | grep -q 'gid 0/0 %d .* sent_bytes %d$'", i + 1, 64 * (i + 1));
    close_couple(both[3 - i]);
  }
}

int main(int count, char **words) {
  static const struct test tests[] = {
      {"a_port_that_goes_down_ends_its_connections", a_port_that_goes_down_ends_its_connections},
      {"a_short_outage_is_survived", a_short_outage_is_survived},
      {"a_silent_port_looks_healthy", a_silent_port_looks_healthy},
      {"cut_address_does_not_affect_others", cut_address_does_not_affect_others},
      {"addresses_come_and_go", addresses_come_and_go},
      {"statuses_are_injected", statuses_are_injected},
      {"verbs_are_refused", verbs_are_refused},
      {"device_events_are_delivered", device_events_are_delivered},
      {"killed_peer_stops_answering", killed_peer_stops_answering},
      {"each_address_counts_what_it_sent", each_address_counts_what_it_sent},
      {NULL, NULL}};
  return run_tests(tests, count, words);
}
