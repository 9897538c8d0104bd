/* Tests of the datagram service of the stand-in for librdmacm on InfiniBand. */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { PORT = 7174, SECOND_LID = 2 };

static struct rdma_event_channel *channel;

static struct sockaddr_in at(const char *text, uint16_t port) {
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
  CHECK(inet_pton(AF_INET, text, &four.sin_addr) == 1, "%s", text);
  return four;
}

static struct rdma_cm_id *new_id(void) {
  struct rdma_cm_id *id;
  CHECK(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP) == 0, "errno %d", errno);
  return id;
}

static struct rdma_cm_id *listening(void) {
  setenv("STANDIN_LINK", "infiniband", 1);
  setenv("STANDIN_DEVICES", "2", 1);
  setenv("STANDIN_IPOIB", "10.9.0.1;10.9.0.2,10.9.0.3@0x8001", 1);
  setenv("STANDIN_SL", "4", 1);
  channel = rdma_create_event_channel();
  CHECK(channel != NULL, "errno %d", errno);
  struct rdma_cm_id *id = new_id();
  struct sockaddr_in own = at("10.9.0.2", PORT);
  CHECK(rdma_bind_addr(id, (struct sockaddr *)&own) == 0 && rdma_listen(id, 8) == 0, "errno %d", errno);
  return id;
}

static void end(struct rdma_cm_id *listener) {
  CHECK(rdma_destroy_id(listener) == 0, "listener");
  rdma_destroy_event_channel(channel);
}

/* Returns a copy of the next event, and the first byte of its data. Acknowledging the event frees the data. */
static struct rdma_cm_event next(enum rdma_cm_event_type kind, uint8_t *first) {
  struct rdma_cm_event *event;
  CHECK(rdma_get_cm_event(channel, &event) == 0, "errno %d", errno);
  CHECK(event->event == kind, "event %d, status %d", event->event, event->status);
  struct rdma_cm_event copy = *event;
  if (first != NULL) *first = *(const uint8_t *)event->param.ud.private_data;
  CHECK(rdma_ack_cm_event(event) == 0, "acknowledged");
  return copy;
}

static void resolve(struct rdma_cm_id *id, const char *server, uint16_t port) {
  struct sockaddr_in own = at("10.9.0.1", 0), far = at(server, port);
  CHECK(rdma_resolve_addr(id, (struct sockaddr *)&own, (struct sockaddr *)&far, 100) == 0, "errno %d", errno);
}

/* Resolves address and route. Returns the LID of the path. */
static uint16_t find_path(struct rdma_cm_id *id, uint16_t port) {
  resolve(id, "10.9.0.2", port);
  next(RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
  CHECK(rdma_resolve_route(id, 100) == 0, "errno %d", errno);
  CHECK(next(RDMA_CM_EVENT_ROUTE_RESOLVED, NULL).id == id && id->route.num_paths == 1, "path");
  CHECK(id->route.path_rec->sl == 4 && id->route.path_rec->pkey == htons(0xffff), "path record");
  return ntohs(id->route.path_rec->dlid);
}

static struct rdma_cm_id *asked(struct rdma_cm_id *listener, uint8_t word) {
  uint8_t heard = 0;
  struct rdma_cm_event event = next(RDMA_CM_EVENT_CONNECT_REQUEST, &heard);
  CHECK(event.listen_id == listener && event.id != listener && heard == word, "question");
  CHECK(event.id->route.num_paths == 0 && event.param.ud.ah_attr.dlid == 0, "Linux returns no path there");
  struct sockaddr_in client = at("10.9.0.1", 0);
  const struct sockaddr_in *source = (const struct sockaddr_in *)&event.id->route.addr.dst_addr;
  CHECK(source->sin_addr.s_addr == client.sin_addr.s_addr && source->sin_port != 0, "client");
  return event.id;
}

static void ask(struct rdma_cm_id *id, uint8_t word) {
  struct rdma_conn_param parameter = {.private_data = &word, .private_data_len = 1};
  CHECK(rdma_connect(id, &parameter) == 0, "errno %d", errno);
}

static void request_gets_path_number_and_key(bool in_child) {
  (void)in_child;
  struct rdma_cm_id *listener = listening(), *id = new_id();
  CHECK(find_path(id, PORT) == SECOND_LID, "LID");
  ask(id, 7);
  struct rdma_cm_id *question = asked(listener, 7);
  uint8_t word = 9;
  struct rdma_conn_param parameter = {.private_data = &word, .private_data_len = 1, .qp_num = 0x123};
  CHECK(rdma_accept(question, &parameter) == 0 && rdma_destroy_id(question) == 0, "errno %d", errno);
  struct rdma_cm_event event = next(RDMA_CM_EVENT_ESTABLISHED, &word);
  CHECK(event.id == id && word == 9, "answer");
  CHECK(event.param.ud.qp_num == 0x123 && event.param.ud.qkey == RDMA_UDP_QKEY, "queue pair");
  CHECK(event.param.ud.ah_attr.dlid == SECOND_LID && event.param.ud.ah_attr.is_global == 0, "direct path");
  CHECK(rdma_destroy_id(id) == 0, "id");
  end(listener);
}

static void unanswered_request_reports_the_reason(bool in_child) {
  (void)in_child;
  struct rdma_cm_id *listener = listening(), *id = new_id();
  find_path(id, PORT + 1);
  ask(id, 1);
  CHECK(next(RDMA_CM_EVENT_UNREACHABLE, NULL).status == 1, "nobody listens");
  CHECK(rdma_destroy_id(id) == 0, "id");
  id = new_id();
  find_path(id, PORT);
  ask(id, 2);
  struct rdma_cm_id *question = asked(listener, 2);
  CHECK(rdma_reject(question, NULL, 0) == 0 && rdma_destroy_id(question) == 0, "errno %d", errno);
  CHECK(next(RDMA_CM_EVENT_UNREACHABLE, NULL).status == 2, "refused");
  CHECK(rdma_destroy_id(id) == 0, "id");
  id = new_id();
  resolve(id, "10.9.0.3", PORT);
  CHECK(next(RDMA_CM_EVENT_ADDR_ERROR, NULL).status == -ETIMEDOUT, "another partition's");
  resolve(id, "10.9.0.4", PORT);
  CHECK(next(RDMA_CM_EVENT_ADDR_ERROR, NULL).status == -ETIMEDOUT, "nobody's");
  control("refuse 0/0 rdma_path 110");
  CHECK(rdma_resolve_route(id, 100) == 0, "errno %d", errno);
  CHECK(next(RDMA_CM_EVENT_ROUTE_ERROR, NULL).status == -ETIMEDOUT, "no manager");
  control("refuse 0/0 rdma_question 110");
  find_path(id, PORT);
  ask(id, 3);
  CHECK(next(RDMA_CM_EVENT_UNREACHABLE, NULL).status == -ETIMEDOUT, "it got lost");
  struct rdma_cm_id *second = new_id();
  struct sockaddr_in taken = at("10.9.0.2", PORT);
  CHECK(rdma_bind_addr(second, (struct sockaddr *)&taken) == 0, "errno %d", errno);
  CHECK(rdma_listen(second, 8) == -1 && errno == EADDRINUSE, "one listens there");
  CHECK(rdma_destroy_id(second) == 0 && rdma_destroy_id(id) == 0, "ids");
  end(listener);
}

static void a_path_follows_its_port(bool in_child) {
  (void)in_child;
  struct rdma_cm_id *listener = listening(), *id = new_id();
  control("lid 0/1 77");
  CHECK(find_path(id, PORT) == 77, "LID");
  CHECK(rdma_destroy_id(id) == 0, "id");
  control("hops 0/1 3");
  id = new_id();
  find_path(id, PORT);
  CHECK(id->route.path_rec->hop_limit == 3, "router");
  CHECK(rdma_destroy_id(id) == 0, "id");
  control("port 0/1 down");
  id = new_id();
  resolve(id, "10.9.0.2", PORT);
  next(RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
  CHECK(rdma_resolve_route(id, 100) == 0, "errno %d", errno);
  CHECK(next(RDMA_CM_EVENT_ROUTE_ERROR, NULL).status == -EINVAL, "no path");
  /* Unread events are freed together with their id. */
  CHECK(rdma_resolve_route(id, 100) == 0 && rdma_destroy_id(id) == 0, "errno %d", errno);
  end(listener);
}

int main(int count, char **words) {
  static const struct test tests[] = {{"request_gets_path_number_and_key", request_gets_path_number_and_key},
                                      {"unanswered_request_reports_the_reason", unanswered_request_reports_the_reason},
                                      {"a_path_follows_its_port", a_path_follows_its_port},
                                      {NULL, NULL}};
  return run_tests(tests, count, words);
}
