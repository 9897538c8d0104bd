/*
 * The datagram service (RDMA_PS_UDP) of the stand-in for librdmacm, as in Linux on InfiniBand
 * (drivers/infiniband/core/cma.c, cma_ib_new_udp_id). The client gets a path and an answer; the server gets the
 * addresses, but no path. A lost request isn't repeated: the client gets an error event at once.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "rdma_cm.h"

enum { FIRST_PORT = 49152, QUESTION_BYTES = 180, ANSWER_BYTES = 136, UNSUPPORTED = 1, REJECTED = 2 };

static void write_address(struct sockaddr_storage *to, const uint8_t address[16], uint16_t port) {
  static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
  memset(to, 0, sizeof *to);
  if (memcmp(address, mapped, sizeof mapped) == 0) {
    struct sockaddr_in *four = (struct sockaddr_in *)to;
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    memcpy(&four->sin_addr, address + 12, 4);
  } else {
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)to;
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    memcpy(&six->sin6_addr, address, 16);
  }
}

/* Returns the port, which has the same offset in the structs of both address families. */
static uint16_t port_of(const struct sockaddr *address) {
  return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

static int post_event(struct rdma_cm_id *id, enum rdma_cm_event_type kind, int status) {
  cm_lock();
  int result = cm_post_event(id, (struct rdma_cm_event){.event = kind, .status = status});
  cm_unlock();
  return result;
}

static int path_to(struct rdma_cm_id *id, struct ibv_sa_path_rec *path) {
  uint8_t to[16];
  cm_address(&id->route.addr.dst_addr, to);
  return standin_cm_path(id->verbs, to, ntohs(id->route.addr.addr.ibaddr.pkey), path);
}

/* ---- the client ---- */

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int timeout_ms) {
  (void)timeout_ms;
  uint8_t ignored[16];
  if (!cm_address(to, ignored)) return cm_fail(EAFNOSUPPORT);
  if (id->verbs == NULL && (from == NULL || rdma_bind_addr(id, from) != 0)) return from == NULL ? cm_fail(EINVAL) : -1;
  struct manager_id *own = (struct manager_id *)id;
  ((struct sockaddr_in *)&id->route.addr.src_storage)->sin_port = htons((uint16_t)(FIRST_PORT + own->number % 1024));
  memcpy(&id->route.addr.dst_storage, to, ADDRESS_BYTES);
  int error = standin_cm_refused(id->verbs, "rdma_address");
  struct ibv_sa_path_rec path;
  if (error == 0 && path_to(id, &path) == EHOSTUNREACH) error = ETIMEDOUT;
  return post_event(id, error == 0 ? RDMA_CM_EVENT_ADDR_RESOLVED : RDMA_CM_EVENT_ADDR_ERROR, -error);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms) {
  (void)timeout_ms;
  if (id->verbs == NULL) return cm_fail(EINVAL);
  struct ibv_sa_path_rec *path = calloc(1, sizeof *path);
  if (path == NULL) return -1;
  int error = standin_cm_refused(id->verbs, "rdma_path");
  if (error == 0) error = path_to(id, path);
  if (error != 0) {
    free(path);
    return post_event(id, RDMA_CM_EVENT_ROUTE_ERROR, -error);
  }
  free(id->route.path_rec);
  id->route.path_rec = path;
  id->route.num_paths = 1;
  return post_event(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

static void copy_data(struct subnet_message *message, const struct rdma_conn_param *parameter, size_t most) {
  if (parameter == NULL || parameter->private_data == NULL) return;
  size_t bytes = parameter->private_data_len;
  memcpy(message->data, parameter->private_data, bytes < most ? bytes : most);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *parameter) {
  if (id->verbs == NULL || id->route.num_paths == 0) return cm_fail(EINVAL);
  struct ibv_sa_path_rec path;
  int error = standin_cm_refused(id->verbs, "rdma_question");
  if (error == 0 && path_to(id, &path) != 0) error = ETIMEDOUT;
  if (error != 0) return post_event(id, RDMA_CM_EVENT_UNREACHABLE, -error);
  struct subnet_message message = {.kind = SUBNET_REQUEST,
                                   .client_id = ((struct manager_id *)id)->number,
                                   .client_port = port_of(&id->route.addr.src_addr),
                                   .server_port = port_of(&id->route.addr.dst_addr)};
  cm_address(&id->route.addr.src_addr, message.client);
  cm_address(&id->route.addr.dst_addr, message.server);
  copy_data(&message, parameter, QUESTION_BYTES);
  error = standin_cm_send(&message);
  if (error == ENOENT) return post_event(id, RDMA_CM_EVENT_UNREACHABLE, UNSUPPORTED);
  return error == 0 ? 0 : cm_fail(error);
}

/* ---- the server ---- */

int rdma_listen(struct rdma_cm_id *id, int backlog) {
  (void)backlog;
  struct manager_id *own = (struct manager_id *)id;
  if (id->verbs == NULL) return cm_fail(EINVAL);
  cm_lock();
  cm_address(&id->route.addr.src_addr, own->address);
  uint16_t port = port_of(&id->route.addr.src_addr);
  int error = standin_cm_serve(own->address, port);
  if (error == 0) own->port = port;
  cm_unlock();
  return error == 0 ? 0 : cm_fail(error);
}

static int answer(struct rdma_cm_id *id, struct subnet_message message) {
  const struct subnet_message *request = &((struct manager_id *)id)->request;
  if (request->from == 0) return cm_fail(EINVAL);
  message.kind = SUBNET_REPLY;
  message.to = request->from;
  message.client_id = request->client_id;
  int error = standin_cm_send(&message);
  /* If the client has ended meanwhile, that is no error. */
  return error == 0 || error == ENOENT ? 0 : cm_fail(error);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *parameter) {
  struct subnet_message message = {.number = parameter->qp_num, .key = RDMA_UDP_QKEY};
  copy_data(&message, parameter, ANSWER_BYTES);
  return answer(id, message);
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t bytes) {
  struct subnet_message message = {.status = REJECTED};
  copy_data(&message, &(struct rdma_conn_param){.private_data = data, .private_data_len = bytes}, ANSWER_BYTES);
  return answer(id, message);
}

/* ---- messages from other processes ---- */

static void read_request(const struct subnet_message *message) {
  struct manager_id *listener = cm_ids();
  while (listener != NULL &&
         (listener->port != message->server_port || memcmp(listener->address, message->server, 16) != 0)) {
    listener = listener->next;
  }
  struct manager_id *asked = listener == NULL ? NULL : calloc(1, sizeof *asked);
  if (asked == NULL) return;
  asked->id.channel = listener->id.channel;
  asked->id.context = listener->id.context;
  asked->id.ps = listener->id.ps;
  asked->id.port_num = listener->id.port_num;
  asked->id.route.addr.addr = listener->id.route.addr.addr;
  write_address(&asked->id.route.addr.src_storage, message->server, message->server_port);
  write_address(&asked->id.route.addr.dst_storage, message->client, message->client_port);
  asked->request = *message;
  cm_enter(asked);
  struct rdma_cm_event event = {.event = RDMA_CM_EVENT_CONNECT_REQUEST, .listen_id = &listener->id};
  cm_post_event_with(&asked->id, event, message->data, QUESTION_BYTES);
}

static void read_reply(const struct subnet_message *message) {
  struct manager_id *client = cm_ids();
  while (client != NULL && client->number != message->client_id) client = client->next;
  if (client == NULL || client->id.route.num_paths == 0) return;
  struct rdma_cm_event event = {.event = RDMA_CM_EVENT_UNREACHABLE, .status = (int)message->status};
  if (message->status == 0) {
    const struct ibv_sa_path_rec *path = client->id.route.path_rec;
    event.event = RDMA_CM_EVENT_ESTABLISHED;
    event.param.ud.ah_attr = (struct ibv_ah_attr){.grh = {.dgid = path->dgid, .hop_limit = path->hop_limit},
                                                  .dlid = ntohs(path->dlid),
                                                  .sl = path->sl,
                                                  .static_rate = path->rate,
                                                  .is_global = path->hop_limit > 0,
                                                  .port_num = 1};
    event.param.ud.qp_num = message->number;
    event.param.ud.qkey = message->key;
  }
  cm_post_event_with(&client->id, event, message->data, ANSWER_BYTES);
}

void sidr_read(const struct subnet_message *message) {
  cm_lock();
  if (message->kind == SUBNET_REQUEST) {
    read_request(message);
  } else {
    read_reply(message);
  }
  cm_unlock();
}
