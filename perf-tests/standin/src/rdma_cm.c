/*
 * A stand-in for librdmacm's multicast and datagram service: a librdmacm.so.1 beside this libibverbs. Programs join
 * InfiniBand groups through it, from the addresses that STANDIN_IPOIB gives to the devices. MGIDs are formed as in
 * Linux (drivers/infiniband/core/cma.c, cma_set_mgid). rdma_sidr.c has the datagram service. Connections are not
 * supported.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "rdma_cm.h"

enum { FAMILY_IB = 27, MULTICAST_NUMBER = 0xffffff, LINK_LOCAL = 2 };

/*
 * Guards ids, their members and the channels' events: the stand-in library's thread uses them too, when it reports lost
 * groups.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct manager_id *ids;
static uint64_t ids_made;

void cm_lock(void) { pthread_mutex_lock(&lock); }
void cm_unlock(void) { pthread_mutex_unlock(&lock); }
struct manager_id *cm_ids(void) {
  return ids;
}

int cm_fail(int error) {
  errno = error;
  return -1;
}

int cm_post_event_with(struct rdma_cm_id *id, struct rdma_cm_event event, const uint8_t *data, size_t bytes) {
  struct manager_channel *channel = (struct manager_channel *)id->channel;
  struct queued *queued = calloc(1, sizeof *queued);
  if (queued == NULL) return -1;
  queued->event = event;
  queued->event.id = id;
  if (data != NULL) {
    memcpy(queued->data, data, bytes);
    queued->event.param.ud.private_data = queued->data;
    queued->event.param.ud.private_data_len = (uint8_t)bytes;
  }
  *channel->last = queued;
  channel->last = &queued->next;
  return eventfd_write(id->channel->fd, 1);
}

int cm_post_event(struct rdma_cm_id *id, struct rdma_cm_event event) { return cm_post_event_with(id, event, NULL, 0); }

/*
 * Reports an error event for each joined group, as the kernel does when a restarted subnet manager requests
 * reregistration.
 */
static void report_lost_groups(void) {
  pthread_mutex_lock(&lock);
  for (struct manager_id *id = ids; id != NULL; id = id->next) {
    for (struct member *member = id->members; member != NULL; member = member->next) {
      struct rdma_cm_event event = {.event = RDMA_CM_EVENT_MULTICAST_ERROR, .status = -ENETRESET};
      event.param.ud.private_data = member->context;
      cm_post_event(&id->id, event);
    }
  }
  pthread_mutex_unlock(&lock);
}

/* ---- addresses ---- */

/* Converts an address to 16 bytes, with IPv4 in mapped form. Returns false for any other family. */
bool cm_address(const struct sockaddr *address, uint8_t to[16]) {
  if (address->sa_family == AF_INET6) {
    memcpy(to, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
    return true;
  }
  memset(to, 0, 16);
  to[10] = to[11] = 0xff;
  memcpy(to + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
  return address->sa_family == AF_INET;
}

static bool read_address(const char *text, uint8_t to[16]) {
  struct sockaddr_in four = {.sin_family = AF_INET};
  if (inet_pton(AF_INET, text, &four.sin_addr) == 1) return cm_address((struct sockaddr *)&four, to);
  return inet_pton(AF_INET6, text, to) == 1;
}

typedef bool (*address_visitor)(void *context, int device, const uint8_t address[16], uint16_t partition);

/*
 * Visits the addresses of STANDIN_IPOIB until the visitor returns true. A device's addresses are separated by commas,
 * devices by semicolons, and "@0x8001" after an address is its partition.
 */
static void visit_addresses(address_visitor visitor, void *context) {
  const char *setting = getenv("STANDIN_IPOIB");
  char list[4096], *rest = list, *devices;
  snprintf(list, sizeof list, "%s", setting == NULL ? "" : setting);
  for (int device = 0; (devices = strsep(&rest, ";")) != NULL; device++) {
    for (char *text; (text = strsep(&devices, ",")) != NULL;) {
      uint8_t address[16];
      char *key = strchr(text, '@');
      if (key != NULL) *key++ = '\0';
      uint16_t partition = key == NULL ? 0xffff : (uint16_t)strtoul(key, NULL, 0);
      if (read_address(text, address) && visitor(context, device, address, partition)) return;
    }
  }
}

struct wanted {
  uint8_t address[16];
  int device;
  uint16_t partition;
};

static bool is_wanted(void *context, int device, const uint8_t address[16], uint16_t partition) {
  struct wanted *wanted = context;
  if (memcmp(wanted->address, address, 16) != 0) return false;
  wanted->device = device;
  wanted->partition = partition;
  return true;
}

/* Returns the number of the device that has the address, or -1. */
static int find_address(const struct sockaddr *address, uint16_t *partition) {
  struct wanted wanted = {.device = -1};
  if (cm_address(address, wanted.address)) visit_addresses(is_wanted, &wanted);
  *partition = wanted.partition;
  return wanted.device;
}

static bool own_address(void *context, int device, const uint8_t address[16], uint16_t partition) {
  int *error = context;
  *error = standin_cm_register_address((uint32_t)device, address, partition);
  return *error != 0;
}

/* Registers this host's addresses, so that other processes can reach them. */
static int own_addresses(void) {
  int error = 0;
  visit_addresses(own_address, &error);
  return error == 0 ? 0 : cm_fail(error);
}

struct rdma_event_channel *rdma_create_event_channel(void) {
  standin_cm_when_lost(report_lost_groups);
  standin_cm_on_message(sidr_read);
  if (own_addresses() != 0) return NULL;
  struct manager_channel *channel = calloc(1, sizeof *channel);
  if (channel == NULL) return NULL;
  channel->last = &channel->first;
  channel->channel.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
  if (channel->channel.fd >= 0) return &channel->channel;
  free(channel);
  return NULL;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel) {
  struct manager_channel *own = (struct manager_channel *)channel;
  while (own->first != NULL) {
    struct queued *queued = own->first;
    own->first = queued->next;
    free(queued);
  }
  close(channel->fd);
  free(own);
}

void cm_enter(struct manager_id *own) {
  own->number = ++ids_made;
  own->next = ids;
  ids = own;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
                   enum rdma_port_space space) {
  struct manager_id *own = calloc(1, sizeof *own);
  if (own == NULL) return -1;
  own->id.channel = channel;
  own->id.context = context;
  own->id.ps = space;
  *id = &own->id;
  pthread_mutex_lock(&lock);
  cm_enter(own);
  pthread_mutex_unlock(&lock);
  return 0;
}

static void free_member(struct rdma_cm_id *id, struct member *member) {
  standin_cm_leave(id->verbs, &member->group, member->receives);
  free(member);
}

/* Drops unread events of an id. The caller holds the lock. */
static void forget_events(struct rdma_cm_id *id) {
  struct manager_channel *channel = (struct manager_channel *)id->channel;
  eventfd_t one;
  for (struct queued **at = &channel->first; *at != NULL;) {
    struct queued *queued = *at;
    if (queued->event.id == id) {
      *at = queued->next;
      free(queued);
      eventfd_read(channel->channel.fd, &one);
    } else {
      at = &queued->next;
    }
  }
  channel->last = &channel->first;
  while (*channel->last != NULL) channel->last = &(*channel->last)->next;
}

int rdma_destroy_id(struct rdma_cm_id *id) {
  struct manager_id *own = (struct manager_id *)id;
  pthread_mutex_lock(&lock);
  for (struct manager_id **at = &ids; *at != NULL; at = &(*at)->next) {
    if (*at == own) {
      *at = own->next;
      break;
    }
  }
  forget_events(id);
  pthread_mutex_unlock(&lock);
  while (own->members != NULL) {
    struct member *member = own->members;
    own->members = member->next;
    free_member(id, member);
  }
  if (own->port != 0) standin_cm_end_service(own->address, own->port);
  if (id->verbs != NULL) ibv_close_device(id->verbs);
  free(id->route.path_rec);
  free(own);
  return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address) {
  uint16_t partition = 0;
  int device = find_address(address, &partition), count = 0;
  struct ibv_device **list = device < 0 ? NULL : ibv_get_device_list(&count);
  if (list == NULL || device >= count) {
    if (list != NULL) ibv_free_device_list(list);
    return cm_fail(ENODEV);
  }
  id->verbs = ibv_open_device(list[device]);
  ibv_free_device_list(list);
  if (id->verbs == NULL) return -1;
  id->port_num = 1;
  id->route.addr.addr.ibaddr.pkey = htons(partition);
  memcpy(&id->route.addr.src_storage, address, ADDRESS_BYTES);
  return ibv_query_gid(id->verbs, 1, 0, &id->route.addr.addr.ibaddr.sgid);
}

/* ---- groups ---- */

/*
 * Forms the MGID of an IP group by RFC 4391, section 4, but with the connection manager's signature for datagrams,
 * 0x01, instead of IPoIB's 0x1b.
 */
static union ibv_gid mapped(const struct rdma_cm_id *id, uint8_t family, const uint8_t *address, size_t bytes) {
  union ibv_gid gid = {.raw = {0xff, 0x10 | LINK_LOCAL, family, 0x01}};
  memcpy(gid.raw + 4, &id->route.addr.addr.ibaddr.pkey, 2);
  memcpy(gid.raw + 16 - bytes, address, bytes);
  return gid;
}

static size_t length_of(const struct sockaddr *address) {
  switch (address->sa_family) {
    case AF_INET: return sizeof(struct sockaddr_in);
    case AF_INET6: return sizeof(struct sockaddr_in6);
    case FAMILY_IB: return sizeof(struct sockaddr_ib);
    default: return 0;
  }
}

static union ibv_gid group_of(const struct rdma_cm_id *id, const struct sockaddr *address) {
  union ibv_gid gid;
  if (address->sa_family == FAMILY_IB) {
    memcpy(gid.raw, &((const struct sockaddr_ib *)address)->sib_addr, sizeof gid);
    return gid;
  }
  if (address->sa_family == AF_INET) {
    uint8_t low[4];
    memcpy(low, &((const struct sockaddr_in *)address)->sin_addr, sizeof low);
    low[0] &= 0x0f;
    return mapped(id, 0x40, low, sizeof low);
  }
  const uint8_t *six = ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr;
  bool is_mgid = six[0] == 0xff && (six[1] & 0xf0) == 0x10 && six[2] == 0xa0 && six[3] == 0x1b;
  if (!is_mgid) return mapped(id, 0x60, six + 6, 10);
  memcpy(gid.raw, six, sizeof gid);
  return gid;
}

static bool has_link(struct rdma_cm_id *id) {
  struct ibv_port_attr port;
  return ibv_query_port(id->verbs, 1, &port) == 0 && port.state == IBV_PORT_ACTIVE;
}

static int join_locked(struct rdma_cm_id *id, const struct sockaddr *address, bool receives, void *context,
                       const char *call) {
  size_t length = length_of(address);
  if (id->verbs == NULL || length == 0) return cm_fail(EINVAL);
  if (standin_cm_refused(id->verbs, call) != 0) return -1;
  union ibv_gid group = group_of(id, address);
  if (!has_link(id)) { /* without a link, the subnet manager doesn't answer */
    struct rdma_cm_event error = {.event = RDMA_CM_EVENT_MULTICAST_ERROR, .status = -ETIMEDOUT};
    error.param.ud.private_data = context;
    return cm_post_event(id, error);
  }
  uint32_t lid = 0;
  int error = standin_cm_join(id->verbs, &group, receives, &lid);
  struct member *member = error == 0 ? calloc(1, sizeof *member) : NULL;
  if (member == NULL) return cm_fail(error == 0 ? ENOMEM : error);
  memcpy(&member->address, address, length);
  member->group = group;
  member->receives = receives;
  member->context = context;
  member->next = ((struct manager_id *)id)->members;
  ((struct manager_id *)id)->members = member;
  const char *level = getenv("STANDIN_SL");
  struct rdma_cm_event event = {.event = RDMA_CM_EVENT_MULTICAST_JOIN};
  event.param.ud.private_data = context;
  event.param.ud.ah_attr = (struct ibv_ah_attr){.grh = {.dgid = group},
                                                .dlid = (uint16_t)lid,
                                                .sl = level == NULL ? 0 : (uint8_t)strtoul(level, NULL, 10),
                                                .static_rate = IBV_RATE_100_GBPS,
                                                .is_global = 1,
                                                .port_num = 1};
  event.param.ud.qp_num = MULTICAST_NUMBER;
  event.param.ud.qkey = RDMA_UDP_QKEY;
  return cm_post_event(id, event);
}

static int join(struct rdma_cm_id *id, const struct sockaddr *address, bool receives, void *context, const char *call) {
  pthread_mutex_lock(&lock);
  int result = join_locked(id, address, receives, context, call);
  pthread_mutex_unlock(&lock);
  return result;
}

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *address, void *context) {
  return join(id, address, true, context, "rdma_join_multicast");
}

int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *wanted, void *context) {
  if (wanted->comp_mask != (RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS) ||
      wanted->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED) {
    return cm_fail(EINVAL);
  }
  bool receives = wanted->join_flags == RDMA_MC_JOIN_FLAG_FULLMEMBER;
  return join(id, wanted->addr, receives, context, "rdma_join_multicast_ex");
}

int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *address) {
  size_t length = length_of(address);
  struct member *left = NULL;
  pthread_mutex_lock(&lock);
  for (struct member **at = &((struct manager_id *)id)->members; *at != NULL; at = &(*at)->next) {
    if (length == 0 || memcmp(&(*at)->address, address, length) != 0) continue;
    left = *at;
    *at = left->next;
    break;
  }
  pthread_mutex_unlock(&lock);
  if (left == NULL) return cm_fail(EADDRNOTAVAIL);
  free_member(id, left);
  return 0;
}

/* ---- events ---- */

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event) {
  struct manager_channel *own = (struct manager_channel *)channel;
  eventfd_t one;
  if (eventfd_read(channel->fd, &one) != 0) return -1;
  pthread_mutex_lock(&lock);
  struct queued *queued = own->first;
  own->first = queued->next;
  if (own->first == NULL) own->last = &own->first;
  pthread_mutex_unlock(&lock);
  *event = &queued->event;
  return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event) {
  free((struct queued *)event);
  return 0;
}
