/* IPoIB addresses, paths to them, and messages between communication managers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "local.h"

static bool is_alive(uint32_t owner) { return owner != 0 && is_process_alive(owner); }

static struct subnet_address *find_address(const uint8_t address[16]) {
  for (uint32_t i = 0; i < ADDRESSES; i++) {
    struct subnet_address *one = &fabric->addresses[i];
    if (memcmp(one->address, address, 16) == 0 && is_alive(one->owner)) return one;
  }
  return NULL;
}

int standin_cm_register_address(uint32_t device, const uint8_t address[16], uint16_t partition) {
  int error = fabric_join();
  if (error != 0) return error;
  lock(&fabric->manager_lock);
  struct subnet_address *place = find_address(address);
  for (uint32_t i = 0; i < ADDRESSES && place == NULL; i++) {
    if (!is_alive(fabric->addresses[i].owner)) place = &fabric->addresses[i];
  }
  if (place != NULL) {
    *place = (struct subnet_address){.owner = self, .host = this_host, .device = device, .partition_key = partition};
    memcpy(place->address, address, 16);
  }
  unlock(&fabric->manager_lock);
  return place == NULL ? ENOMEM : 0;
}

static bool has_link(const struct port *port) {
  return atomic_load(&port->state) == IBV_PORT_ACTIVE && !atomic_load(&port->silent);
}

static uint8_t setting(const char *name) {
  const char *value = getenv(name);
  return value == NULL ? 0 : (uint8_t)strtoul(value, NULL, 10);
}

int standin_cm_path(struct ibv_context *context, const uint8_t address[16], uint16_t partition,
                    struct ibv_sa_path_rec *path) {
  uint32_t own = device_of(context);
  lock(&fabric->manager_lock);
  struct subnet_address *found = find_address(address), to = {.owner = 0};
  if (found != NULL) to = *found;
  unlock(&fabric->manager_lock);
  if (to.owner == 0 || ((to.partition_key ^ partition) & 0x7fff) != 0) return EHOSTUNREACH;
  if (!has_link(port_of(this_host, own))) return ETIMEDOUT;
  if (!has_link(port_of(to.host, to.device))) return EINVAL;
  *path = (struct ibv_sa_path_rec){.dgid = port_of(to.host, to.device)->gids[0].gid,
                                   .sgid = port_of(this_host, own)->gids[0].gid,
                                   .dlid = htobe16((uint16_t)lid_of(to.host, to.device)),
                                   .slid = htobe16((uint16_t)lid_of(this_host, own)),
                                   .hop_limit = (uint8_t)atomic_load(&port_of(to.host, to.device)->hops),
                                   .reversible = 1,
                                   .numb_path = 1,
                                   .pkey = htobe16(partition),
                                   .sl = setting("STANDIN_SL"),
                                   .mtu_selector = 2,
                                   .mtu = IBV_MTU_4096,
                                   .rate_selector = 2,
                                   .rate = IBV_RATE_100_GBPS};
  return 0;
}

/* ---- services ---- */

static struct subnet_service *find_service(const uint8_t address[16], uint16_t port) {
  for (uint32_t i = 0; i < SERVICES; i++) {
    struct subnet_service *one = &fabric->services[i];
    if (one->port == port && memcmp(one->address, address, 16) == 0 && is_alive(one->owner)) return one;
  }
  return NULL;
}

int standin_cm_serve(const uint8_t address[16], uint16_t port) {
  lock(&fabric->manager_lock);
  int error = find_service(address, port) == NULL ? ENOMEM : EADDRINUSE;
  for (uint32_t i = 0; i < SERVICES && error == ENOMEM; i++) {
    struct subnet_service *one = &fabric->services[i];
    if (is_alive(one->owner)) continue;
    *one = (struct subnet_service){.owner = self, .port = port};
    memcpy(one->address, address, 16);
    error = 0;
  }
  unlock(&fabric->manager_lock);
  return error;
}

void standin_cm_end_service(const uint8_t address[16], uint16_t port) {
  lock(&fabric->manager_lock);
  struct subnet_service *one = find_service(address, port);
  if (one != NULL && one->owner == self) one->owner = 0;
  unlock(&fabric->manager_lock);
}

/* ---- messages ---- */

int standin_cm_send(const struct subnet_message *message) {
  lock(&fabric->manager_lock);
  struct subnet_service *service =
      message->kind == SUBNET_REQUEST ? find_service(message->server, message->server_port) : NULL;
  uint32_t to = message->kind == SUBNET_REPLY ? message->to : service == NULL ? 0 : service->owner;
  int error = is_alive(to) ? ENOBUFS : ENOENT;
  uint32_t at = 0;
  for (uint32_t i = 0; i < SUBNET_MESSAGES && error == ENOBUFS; i++) {
    if (is_alive(fabric->messages[i].to)) continue;
    fabric->messages[i] = *message;
    fabric->messages[i].to = to;
    fabric->messages[i].from = self;
    at = i;
    error = 0;
  }
  unlock(&fabric->manager_lock);
  if (error == 0) send_message(to, (struct message){.kind = MESSAGE_SUBNET, .index = at});
  return error;
}
