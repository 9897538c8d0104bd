/* Devices: listing, opening, and queries. */
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "local.h"
#include "settings.h"

static struct device devices[DEVICES];

static struct port *port_at(struct ibv_context *context, uint32_t number) {
  return port_of(this_host, port_index(context, number));
}

/* Size of ibv_port_attr in newer headers than Debian 12's, and the offset of its last field there. */
enum { PORT_ATTR_BYTES = 56, ACTIVE_SPEED_EX = 52 };

struct ibv_device **ibv_get_device_list(int *count) {
  if (count != NULL) *count = 0;
  int error = fabric_join();
  if (error != 0) {
    errno = error;
    return NULL;
  }
  uint32_t each = fabric->hosts[this_host].ports_each;
  uint32_t found = fabric->hosts[this_host].devices / each;
  struct ibv_device **list = calloc(found + 1, sizeof *list);
  if (list == NULL) return NULL;
  for (uint32_t i = 0; i < found; i++) {
    struct ibv_device *device = &devices[i].device;
    devices[i].index = i * each;
    device->node_type = IBV_NODE_CA;
    device->transport_type = IBV_TRANSPORT_IB;
    snprintf(device->name, sizeof device->name, "%s", port_of(this_host, i * each)->name);
    snprintf(device->dev_name, sizeof device->dev_name, "uverbs%u", i);
    const char *root = ibv_get_sysfs_path();
    snprintf(device->dev_path, sizeof device->dev_path, "%.128s/class/infiniband_verbs/uverbs%u", root, i);
    snprintf(device->ibdev_path, sizeof device->ibdev_path, "%.128s/class/infiniband/%.100s", root, device->name);
    list[i] = device;
  }
  if (count != NULL) *count = (int)found;
  return list;
}

void ibv_free_device_list(struct ibv_device **list) { free(list); }

const char *ibv_get_device_name(struct ibv_device *device) { return device->name; }

int ibv_get_device_index(struct ibv_device *device) {
  return (int)(((struct device *)device)->index / fabric->hosts[this_host].ports_each) + 1;
}

/* Returns a locally administered EUI-64 that is derived from host and device. */
static uint64_t guid_of(uint32_t device) { return 0x020000fffe000000u | (uint64_t)(device + 1) << 8 | (this_host + 1); }

/* Returns the GUID of the device's chip, 0 where it reports none. A chip of one device has the device's own. */
static uint64_t image_guid_of(uint32_t device) {
  uint32_t card = port_of(this_host, device)->card;
  return card == 0 ? 0 : guid_of((card - 1) * fabric->hosts[this_host].ports_each);
}

__be64 ibv_get_device_guid(struct ibv_device *device) { return htobe64(guid_of(((struct device *)device)->index)); }

/* ---- the entries of a context's ops tables ---- */

static int no_bind(struct ibv_qp *qp, struct ibv_mw *window, struct ibv_mw_bind *bind) {
  (void)qp, (void)window, (void)bind;
  return EOPNOTSUPP;
}

static int no_shared_receive(struct ibv_srq *queue, struct ibv_recv_wr *request, struct ibv_recv_wr **bad) {
  (void)queue;
  *bad = request;
  return EOPNOTSUPP;
}

/* Returns the code of the fastest IB_SPEED_* with which four lanes are no faster than the port. */
static uint32_t lane_speed(const struct port *port) {
  static const struct {
    uint32_t code, lane_mbps;
  } speeds[] = {{256, 200000}, {128, 100000}, {64, 50000}, {32, 25000}, {16, 14000}, {8, 10000}, {2, 5000}};
  for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
    if (4 * speeds[i].lane_mbps <= port->speed_mbps) return speeds[i].code;
  }
  return 1;
}

static int query_port_sized(struct ibv_context *context, uint8_t number, struct ibv_port_attr *to, size_t size) {
  int error = refused(context, "ibv_query_port");
  if (error != 0) return error;
  if (!has_port(number)) return EINVAL;
  struct port *port = port_at(context, number);
  uint32_t speed = lane_speed(port);
  bool active = atomic_load(&port->state) == IBV_PORT_ACTIVE;
  bool infiniband = fabric->hosts[this_host].link_layer == IBV_LINK_LAYER_INFINIBAND;
  struct ibv_port_attr all = {
      .state = (enum ibv_port_state)atomic_load(&port->state),
      .max_mtu = IBV_MTU_4096,
      .active_mtu = IBV_MTU_4096,
      .gid_tbl_len = GIDS,
      .port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS,
      .max_msg_sz = MAX_MESSAGE,
      .pkey_tbl_len = PKEYS,
      .lid = (uint16_t)lid_of(this_host, port_index(context, number)),
      .sm_lid = infiniband ? 1 : 0,
      .max_vl_num = 1,
      .active_width = 2,              /* 4 lanes */
      .active_speed = (uint8_t)speed, /* too narrow for XDR, which only the last field has */
      .phys_state = active ? 5 : 3,
      .link_layer = (uint8_t)fabric->hosts[this_host].link_layer,
  };
  if (infiniband) all.port_cap_flags &= ~(uint32_t)IBV_PORT_IP_BASED_GIDS;
  char bytes[PORT_ATTR_BYTES] = {0};
  memcpy(bytes, &all, ACTIVE_SPEED_EX);
  memcpy(bytes + ACTIVE_SPEED_EX, &speed, sizeof speed);
  memcpy(to, bytes, size < sizeof bytes ? size : sizeof bytes);
  return 0;
}

/* New in libibverbs 1.16. Returns the speed in units of 100 Mbit/s. */
int ibv_query_port_speed(struct ibv_context *context, uint32_t number, uint64_t *speed);
int ibv_query_port_speed(struct ibv_context *context, uint32_t number, uint64_t *speed) {
  int error = refused(context, "ibv_query_port_speed");
  if (error == 0 && !has_port(number)) error = EINVAL;
  if (error == 0) *speed = port_at(context, number)->speed_mbps / 100;
  return error;
}

/*
 * The function that libibverbs exports has always written only the fields before port_cap_flags2, so this one does too.
 */
int ibv_query_port(struct ibv_context *context, uint8_t number, struct _compat_ibv_port_attr *to) {
  return query_port_sized(context, number, (struct ibv_port_attr *)to, offsetof(struct ibv_port_attr, port_cap_flags2));
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *to) {
  int error = refused(context, "ibv_query_device");
  if (error != 0) return error;
  *to = (struct ibv_device_attr){
      .fw_ver = "1.0",
      .node_guid = htobe64(guid_of(device_of(context))),
      .sys_image_guid = htobe64(image_guid_of(device_of(context))),
      .vendor_id = port_at(context, 1)->vendor,
      .max_mr_size = UINT64_MAX,
      .page_size_cap = 4096,
      .hw_ver = 1,
      .max_qp = PAIRS - 1,
      .max_qp_wr = PAIR_ENTRIES,
      .device_cap_flags = IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_PORT_ACTIVE_EVENT,
      .max_sge = MAX_SGE,
      .max_sge_rd = MAX_SGE,
      .max_cq = QUEUES - 1,
      .max_cqe = settings_completions(),
      .max_mr = REGIONS - 1,
      .max_pd = 1 << 20,
      .max_qp_rd_atom = MAX_READS,
      .max_res_rd_atom = MAX_READS * PAIRS,
      .max_qp_init_rd_atom = MAX_READS,
      .atomic_cap = IBV_ATOMIC_NONE,
      .max_mcast_grp = MEMBERSHIPS,
      .max_mcast_qp_attach = MEMBERSHIPS,
      .max_total_mcast_qp_attach = MEMBERSHIPS,
      .max_ah = 1 << 16,
      .max_pkeys = PKEYS,
      .local_ca_ack_delay = LOCAL_ACK_DELAY,
      .phys_port_cnt = (uint8_t)fabric->hosts[this_host].ports_each,
  };
  return 0;
}

static int query_device_extended(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                                 struct ibv_device_attr_ex *to, size_t size) {
  if (input != NULL && input->comp_mask != 0) return EINVAL;
  if (size < sizeof to->orig_attr) return EINVAL;
  struct ibv_device_attr_ex all = {.phys_port_cnt_ex = fabric->hosts[this_host].ports_each};
  int error = ibv_query_device(context, &all.orig_attr);
  if (error == 0) memcpy(to, &all, size < sizeof all ? size : sizeof all);
  return error;
}

/* ---- opening ---- */

struct ibv_context *ibv_open_device(struct ibv_device *device) {
  uint32_t index = ((struct device *)device)->index;
  int error = engine_start();
  struct context *context = error == 0 ? calloc(1, sizeof *context) : NULL;
  if (context == NULL) {
    errno = error == 0 ? ENOMEM : error;
    return NULL;
  }
  context->device = index;
  if (refused(&context->verbs.context, "ibv_open_device") != 0 || !event_list_open(&context->events)) {
    free(context);
    return NULL;
  }
  struct ibv_context *visible = &context->verbs.context;
  visible->device = device;
  visible->cmd_fd = -1;
  visible->async_fd = context->events.file;
  visible->num_comp_vectors = 1;
  pthread_mutex_init(&visible->mutex, NULL);
  visible->abi_compat = __VERBS_ABI_IS_EXTENDED;
  bool instant = settings_instant();
  visible->ops.poll_cq = instant ? instant_poll : poll_queue;
  visible->ops.req_notify_cq = arm_queue;
  visible->ops.post_send = instant ? instant_post_send : post_send;
  visible->ops.post_recv = instant ? instant_post_receive : post_receive;
  visible->ops.post_srq_recv = no_shared_receive;
  visible->ops.bind_mw = no_bind;
  context->verbs.sz = sizeof context->verbs;
  context->verbs.query_port = query_port_sized;
  context->verbs.query_device_ex = query_device_extended;
  pthread_mutex_lock(&objects);
  context->next = contexts;
  contexts = context;
  pthread_mutex_unlock(&objects);
  return visible;
}

int ibv_close_device(struct ibv_context *visible) {
  struct context *context = context_of(visible);
  pthread_mutex_lock(&objects);
  for (struct context **at = &contexts; *at != NULL; at = &(*at)->next) {
    if (*at == context) {
      *at = context->next;
      break;
    }
  }
  pthread_mutex_unlock(&objects);
  event_list_close(&context->events);
  pthread_mutex_destroy(&visible->mutex);
  free(context);
  return 0;
}

/* ---- GIDs and partition keys ---- */

static uint32_t interface_of(const union ibv_gid *gid) {
  static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
  struct ifaddrs *all = NULL;
  uint32_t found = 0;
  if (getifaddrs(&all) != 0) return 0;
  for (struct ifaddrs *one = all; one != NULL && found == 0; one = one->ifa_next) {
    if (one->ifa_addr == NULL) continue;
    const struct sockaddr_in *four = (const struct sockaddr_in *)one->ifa_addr;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)one->ifa_addr;
    if ((one->ifa_addr->sa_family == AF_INET6 && memcmp(&six->sin6_addr, gid, sizeof *gid) == 0) ||
        (one->ifa_addr->sa_family == AF_INET && memcmp(gid, mapped, sizeof mapped) == 0 &&
         memcmp(&four->sin_addr, gid->raw + 12, 4) == 0)) {
      found = if_nametoindex(one->ifa_name);
    }
  }
  freeifaddrs(all);
  return found;
}

static bool is_empty(const union ibv_gid *gid) {
  return gid->global.subnet_prefix == 0 && gid->global.interface_id == 0;
}

static union ibv_gid gid_at(struct ibv_context *context, uint32_t number, uint32_t index) {
  struct port *port = port_at(context, number);
  lock(&port->lock);
  union ibv_gid gid = port->gids[index].gid;
  unlock(&port->lock);
  return gid;
}

static uint32_t gid_type(void) {
  return fabric->hosts[this_host].link_layer == IBV_LINK_LAYER_INFINIBAND ? IBV_GID_TYPE_IB : IBV_GID_TYPE_ROCE_V2;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t number, uint32_t index, struct ibv_gid_entry *entry,
                      uint32_t flags, size_t entry_size) {
  int error = refused(context, "ibv_query_gid_ex");
  if (error != 0) return error;
  if (!has_port(number) || index >= GIDS || flags != 0 || entry_size < sizeof *entry) return EINVAL;
  union ibv_gid gid = gid_at(context, number, index);
  if (is_empty(&gid)) return ENODATA;
  memset(entry, 0, entry_size);
  *entry = (struct ibv_gid_entry){
      .gid = gid, .gid_index = index, .port_num = number, .gid_type = gid_type(), .ndev_ifindex = interface_of(&gid)};
  return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max, uint32_t flags,
                             size_t entry_size) {
  int error = refused(context, "ibv_query_gid_table");
  size_t found = 0;
  if (error != 0) return -error;
  if (flags != 0 || entry_size < sizeof *entries) return -EINVAL;
  for (uint32_t at = 0; at < GIDS * fabric->hosts[this_host].ports_each; at++) {
    uint32_t number = at / GIDS + 1, index = at % GIDS;
    union ibv_gid gid = gid_at(context, number, index);
    if (is_empty(&gid)) continue;
    if (found == max) return -EINVAL;
    struct ibv_gid_entry *entry = (struct ibv_gid_entry *)((char *)entries + entry_size * found++);
    error = _ibv_query_gid_ex(context, number, index, entry, 0, entry_size);
    if (error != 0) found--; /* the entry was removed meanwhile */
  }
  return (ssize_t)found;
}

int ibv_query_gid(struct ibv_context *context, uint8_t number, int index, union ibv_gid *gid) {
  struct ibv_gid_entry entry = {0};
  int error = refused(context, "ibv_query_gid");
  if (error == 0)
    error = index < 0 ? EINVAL : _ibv_query_gid_ex(context, number, (uint32_t)index, &entry, 0, sizeof entry);
  if (error == ENODATA) error = 0; /* this verb reports an empty entry as a zero GID */
  if (error != 0) {
    errno = error;
    return -1;
  }
  *gid = entry.gid;
  return 0;
}

/*
 * The next functions are in no public header. ibv_devinfo calls the first one: type 0 is "IB/RoCE v1", 1 is "RoCE v2".
 */
int ibv_query_gid_type(struct ibv_context *context, uint8_t number, unsigned index, unsigned *type);
int ibv_query_gid_type(struct ibv_context *context, uint8_t number, unsigned index, unsigned *type) {
  (void)context;
  if (!has_port(number) || index >= GIDS) {
    errno = EINVAL;
    return -1;
  }
  *type = gid_type() == IBV_GID_TYPE_ROCE_V2 ? 1 : 0;
  return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t number, int index, __be16 *key) {
  if (!has_port(number) || index < 0 || index >= PKEYS) {
    errno = EINVAL;
    return -1;
  }
  *key = htobe16(port_at(context, number)->partition_keys[index]);
  return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t number, __be16 key) {
  __be16 found = 0;
  for (int index = 0; ibv_query_pkey(context, number, index, &found) == 0; index++) {
    if (key != 0 && found == key) return index;
  }
  errno = ENOENT;
  return -1;
}
