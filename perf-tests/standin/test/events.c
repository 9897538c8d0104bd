/* Tests of completion channels and asynchronous events: wake-ups and acknowledgements. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"

/* An end whose receives complete on a queue with a channel. */
struct listener {
  struct ibv_comp_channel *channel;
  struct end *end;
  struct ibv_cq *cq;
};

static struct listener listen_on(struct end *end) {
  struct listener listener = {.end = end, .channel = ibv_create_comp_channel(end->context)};
  CHECK(listener.channel != NULL, "errno %d", errno);
  listener.cq = ibv_create_cq(end->context, 64, &listener, listener.channel, 0);
  CHECK(ibv_destroy_qp(end->qp) == 0 && ibv_destroy_cq(end->cq) == 0, "replaced");
  end->cq = listener.cq;
  struct ibv_qp_init_attr wanted = {
      .send_cq = end->cq,
      .recv_cq = end->cq,
      .qp_type = IBV_QPT_RC,
      .sq_sig_all = 1,
      .cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1}};
  end->qp = ibv_create_qp(end->pd, &wanted);
  CHECK(end->qp != NULL, "errno %d", errno);
  return listener;
}

static bool is_readable(int file, int milliseconds) {
  struct pollfd readable = {.fd = file, .events = POLLIN};
  return poll(&readable, 1, milliseconds) == 1;
}

static void write_to(struct end *end, const struct address *peer, unsigned flags) {
  struct ibv_sge sge = piece(end, 0, 8);
  struct ibv_send_wr wanted = request(IBV_WR_SEND, 1, &sge, peer, 0);
  wanted.send_flags = flags;
  CHECK(post(end, &wanted) == 0, "post");
}

struct loop {
  struct second *second;
  struct listener listener;
  struct address near, far;
};

/*
 * Connects a first end, which has a channel for completion events, to a second end, whose sends complete the first
 * end's receives.
 */
static struct loop start_loop(bool in_child) {
  struct options options = usual_options();
  struct loop loop = {.second = start_second(&options, in_child)};
  struct end *end = open_end(&options);
  loop.listener = listen_on(end);
  loop.near = address_of(end);
  loop.far = second_address(loop.second);
  second_connect(loop.second, &loop.near);
  connect_end(end, &loop.far);
  for (int i = 0; i < 8; i++) CHECK(second_receive(loop.second, 1, 0, 64) == 0, "receive");
  return loop;
}

static void stop_loop(struct loop loop) {
  struct ibv_comp_channel *channel = loop.listener.channel;
  CHECK(ibv_destroy_comp_channel(channel) == EBUSY, "a channel in use stays");
  close_end(loop.listener.end);
  CHECK(ibv_destroy_comp_channel(channel) == 0, "channel");
  stop_second(loop.second);
}

static void an_armed_queue_wakes_once(bool in_child) {
  struct loop loop = start_loop(in_child);
  struct end *end = loop.listener.end;
  write_to(end, &loop.far, 0);
  CHECK(!is_readable(loop.listener.channel->fd, 20), "not armed");
  await(end, 1000);
  for (int round = 0; round < 3; round++) {
    CHECK(ibv_req_notify_cq(end->cq, 0) == 0, "arm");
    CHECK(!is_readable(loop.listener.channel->fd, 5), "armed, and nothing has come");
    write_to(end, &loop.far, 0);
    write_to(end, &loop.far, 0);
    struct ibv_cq *which = NULL;
    void *context = NULL;
    CHECK(is_readable(loop.listener.channel->fd, 1000), "woken");
    CHECK(ibv_get_cq_event(loop.listener.channel, &which, &context) == 0 && which == end->cq, "the queue");
    ibv_ack_cq_events(which, 1);
    CHECK(!is_readable(loop.listener.channel->fd, 5), "once");
    await(end, 1000);
    await(end, 1000);
  }
  stop_loop(loop);
}

static void queue_armed_for_solicited_wakes_only_for_those(bool in_child) {
  struct options options = usual_options();
  (void)in_child;
  struct end *end = open_end(&options), *sender = open_end(&options);
  struct listener listener = listen_on(end);
  struct address near = address_of(end), far = address_of(sender);
  connect_end(end, &far);
  connect_end(sender, &near);
  for (int i = 0; i < 4; i++) CHECK(post_receive_of(end, 1, 64, 64) == 0, "receive");
  CHECK(ibv_req_notify_cq(end->cq, 1) == 0, "arm");
  write_to(sender, &near, 0);
  CHECK(!is_readable(listener.channel->fd, 20), "not solicited");
  write_to(sender, &near, IBV_SEND_SOLICITED);
  CHECK(is_readable(listener.channel->fd, 1000), "solicited");
  struct ibv_cq *which = NULL;
  void *context = NULL;
  CHECK(ibv_get_cq_event(listener.channel, &which, &context) == 0, "event");
  ibv_ack_cq_events(which, 1);
  close_end(end);
  close_end(sender);
  CHECK(ibv_destroy_comp_channel(listener.channel) == 0, "channel");
}

static void unread_events_do_not_outlive_their_object(bool in_child) {
  struct loop loop = start_loop(in_child);
  struct end *end = loop.listener.end;
  CHECK(ibv_req_notify_cq(end->cq, 0) == 0, "arm");
  write_to(end, &loop.far, 0);
  CHECK(is_readable(loop.listener.channel->fd, 1000), "woken");
  struct ibv_comp_channel *channel = loop.listener.channel;
  close_end(end); /* doesn't wait for an event that was not read */
  CHECK(!is_readable(channel->fd, 0), "the event is still there");
  fcntl(channel->fd, F_SETFL, O_NONBLOCK);
  struct ibv_cq *which = NULL;
  void *context = NULL;
  CHECK(ibv_get_cq_event(channel, &which, &context) == -1 && errno == EAGAIN, "errno %d", errno);
  CHECK(ibv_destroy_comp_channel(channel) == 0, "channel");
  stop_second(loop.second);
}

static void unread_asynchronous_events_end_with_their_queue_pair(bool in_child) {
  (void)in_child;
  struct options options = usual_options();
  struct end *end = open_end(&options);
  struct address own = address_of(end);
  connect_end(end, &own);
  struct ibv_sge sge = piece(end, 0, 8);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 1, &sge, &own, BUFFER_BYTES);
  CHECK(post(end, &wanted) == 0 && is_readable(end->context->async_fd, 1000), "the access is reported");
  struct ibv_qp_init_attr again = {.send_cq = end->cq, .recv_cq = end->cq, .qp_type = IBV_QPT_RC};
  CHECK(ibv_destroy_qp(end->qp) == 0 && !is_readable(end->context->async_fd, 20), "no event of a destroyed object");
  end->qp = ibv_create_qp(end->pd, &again);
  CHECK(end->qp != NULL, "errno %d", errno);
  close_end(end);
}

static void *acknowledge_later(void *event) {
  usleep(50000);
  ibv_ack_async_event(event);
  return NULL;
}

static void destroying_waits_for_acknowledgements(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 8);
  struct end *end = open_end(&options);
  struct address own = address_of(end);
  /* The end is connected to itself. It writes beyond its memory, so its own pair reports the error. */
  connect_end(end, &own);
  sge = piece(end, 0, 8);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 1, &sge, &own, BUFFER_BYTES);
  CHECK(post(end, &wanted) == 0, "post");
  struct ibv_async_event event;
  CHECK(ibv_get_async_event(end->context, &event) == 0 && event.event_type == IBV_EVENT_QP_ACCESS_ERR &&
            event.element.qp == end->qp,
        "event %d", event.event_type);
  pthread_t thread;
  uint64_t begin = clock_ns();
  pthread_create(&thread, NULL, acknowledge_later, &event);
  close_end(end);
  CHECK(clock_ns() - begin >= 40000000, "it was destroyed before the acknowledgement");
  pthread_join(thread, NULL);
  close_couple(both);
}

static void receiver_in_rtr_gets_event_of_first_message(bool in_child) {
  (void)in_child;
  struct options options = usual_options();
  struct end *end = open_end(&options), *sender = open_end(&options);
  struct address near = address_of(end), far = address_of(sender);
  CHECK(to_init(end) == 0 && to_receive(end, &far) == 0, "RTR");
  connect_end(sender, &near);
  struct ibv_sge sge = piece(sender, 0, 8);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 1, &sge, &near, 0);
  CHECK(post(sender, &wanted) == 0 && await(sender, 1000).status == IBV_WC_SUCCESS, "RTR receives");
  struct ibv_async_event event;
  CHECK(ibv_get_async_event(end->context, &event) == 0 && event.event_type == IBV_EVENT_COMM_EST, "event %d",
        event.event_type);
  ibv_ack_async_event(&event);
  close_end(end);
  close_end(sender);
}

static int port_of_next_event(struct ibv_context *context, enum ibv_event_type wanted) {
  struct ibv_async_event event;
  CHECK(ibv_get_async_event(context, &event) == 0 && event.event_type == wanted, "event %d", event.event_type);
  ibv_ack_async_event(&event);
  return event.element.port_num;
}

static struct ibv_port_attr port(struct end *end, uint8_t number) {
  struct ibv_port_attr attributes;
  CHECK(ibv_query_port(end->context, number, &attributes) == 0, "port %d", number);
  return attributes;
}

static void each_port_has_its_own_state_and_events(bool in_child) {
  (void)in_child;
  setenv("STANDIN_DEVICES", "2", 1);
  setenv("STANDIN_PORTS", "2", 1);
  setenv("STANDIN_SPEED_GBPS", "100,40", 1);
  struct options options = usual_options();
  options.device = 1;
  struct end *end = open_end(&options);
  control("port 0/0:2 down");
  control("port 0/1:2 down");
  control("port 0/1:2 up");
  control("event 0/1 IBV_EVENT_SM_CHANGE");
  CHECK(port_of_next_event(end->context, IBV_EVENT_PORT_ERR) == 2, "of this device");
  CHECK(port_of_next_event(end->context, IBV_EVENT_PORT_ACTIVE) == 2, "of this device");
  CHECK(port_of_next_event(end->context, IBV_EVENT_SM_CHANGE) == 1, "port 1 if none is named");
  control("port 0/1:2 down");
  CHECK(port(end, 1).state == IBV_PORT_ACTIVE && port(end, 2).state == IBV_PORT_DOWN, "one of two");
  CHECK(port(end, 2).active_speed == 8, "four lanes of 10 Gbit/s");
  struct ibv_port_attr none;
  CHECK(ibv_query_port(end->context, 3, &none) == EINVAL, "no third port");
  close_end(end);
}

static void pair_sends_from_its_port(bool in_child) {
  (void)in_child;
  setenv("STANDIN_PORTS", "2", 1);
  struct options options = usual_options();
  struct end *end = open_end(&options);
  struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 3, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
  int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  CHECK(ibv_modify_qp(end->qp, &init, mask) == EINVAL, "no third port");
  init.port_num = 2;
  CHECK(ibv_modify_qp(end->qp, &init, mask) == 0, "port 2");
  struct ibv_qp_attr receive = {.qp_state = IBV_QPS_RTR,
                                .path_mtu = IBV_MTU_4096,
                                .dest_qp_num = end->qp->qp_num,
                                .rq_psn = address_of(end).psn,
                                .min_rnr_timer = 12,
                                .max_dest_rd_atomic = 1,
                                .ah_attr = {.is_global = 1, .port_num = 2, .grh = {.sgid_index = 1}}};
  CHECK(ibv_query_gid(end->context, 2, 1, &receive.ah_attr.grh.dgid) == 0, "address of port 2");
  mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
         IBV_QP_MIN_RNR_TIMER;
  receive.ah_attr.port_num = 1;
  CHECK(ibv_modify_qp(end->qp, &receive, mask) == EINVAL, "a path from another port");
  receive.ah_attr.port_num = 2;
  CHECK(ibv_modify_qp(end->qp, &receive, mask) == 0 && to_send(end) == 0, "connected to itself");
  struct address own = address_of(end);
  struct ibv_sge sge = piece(end, 0, 8);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 1, &sge, &own, 64);
  control("port 0/0:1 down");
  CHECK(post(end, &wanted) == 0 && await(end, 1000).status == IBV_WC_SUCCESS, "port 1 is another");
  control("port 0/0:2 down");
  CHECK(post(end, &wanted) == 0 && await(end, 10000).status == IBV_WC_RETRY_EXC_ERR, "its own port");
  close_end(end);
}

int main(int count, char **words) {
  static const struct test tests[] = {
      {"an_armed_queue_wakes_once", an_armed_queue_wakes_once},
      {"queue_armed_for_solicited_wakes_only_for_those", queue_armed_for_solicited_wakes_only_for_those},
      {"unread_events_do_not_outlive_their_object", unread_events_do_not_outlive_their_object},
      {"unread_asynchronous_events_end_with_their_queue_pair", unread_asynchronous_events_end_with_their_queue_pair},
      {"destroying_waits_for_acknowledgements", destroying_waits_for_acknowledgements},
      {"each_port_has_its_own_state_and_events", each_port_has_its_own_state_and_events},
      {"pair_sends_from_its_port", pair_sends_from_its_port},
      {"receiver_in_rtr_gets_event_of_first_message", receiver_in_rtr_gets_event_of_first_message},
      {NULL, NULL}};
  return run_tests(tests, count, words);
}
