/* Unreliable datagrams: address handles, multicast groups, and sending to every receiver that exists. */
#include <stdlib.h>
#include <string.h>

#include "cm_interface.h"
#include "transmit.h"

enum { HEADER_BYTES = 40, IPV4_BYTES = 20, MULTICAST_NUMBER = 0xffffff, PRIVILEGED_KEY = 1u << 31 };

/* Returns whether the GID is an IPv4 address in mapped form. */
static bool is_ipv4(const union ibv_gid *gid) {
  static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
  return memcmp(gid->raw, mapped, sizeof mapped) == 0;
}

static bool is_multicast(const union ibv_gid *gid) {
  return is_ipv4(gid) ? (gid->raw[12] & 0xf0) == 0xe0 : gid->raw[0] == 0xff;
}

static bool same(const union ibv_gid *one, const union ibv_gid *other) { return memcmp(one, other, sizeof *one) == 0; }

/* ---- address handles ---- */

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *path) {
  static const union ibv_gid none;
  if (refused(pd->context, "ibv_create_ah") != 0) return NULL;
  const struct port *port = port_of(this_host, port_index(pd->context, has_port(path->port_num) ? path->port_num : 1));
  bool ethernet = fabric->hosts[this_host].link_layer == IBV_LINK_LAYER_ETHERNET;
  bool to_group = path->dlid >= FIRST_GROUP_LID;
  if (!has_port(path->port_num) || (path->is_global == 0 && (ethernet || to_group)) || (!ethernet && path->dlid == 0) ||
      (path->is_global != 0 && (path->grh.sgid_index >= GIDS || same(&port->gids[path->grh.sgid_index].gid, &none)))) {
    errno = EINVAL;
    return NULL;
  }
  struct address_handle *handle = calloc(1, sizeof *handle);
  if (handle == NULL) return NULL;
  handle->ah.context = pd->context;
  handle->ah.pd = pd;
  handle->path = *path;
  atomic_fetch_add(&((struct domain *)pd)->users, 1);
  return &handle->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah) {
  int error = refused(ah->context, "ibv_destroy_ah");
  if (error != 0) return error;
  atomic_fetch_sub(&((struct domain *)ah->pd)->users, 1);
  free(ah);
  return 0;
}

static union ibv_gid mapped(const uint8_t address[4]) {
  union ibv_gid gid = {.raw = {[10] = 0xff, [11] = 0xff}};
  memcpy(gid.raw + 12, address, 4);
  return gid;
}

/* Reads the addresses of a header that write_header has written. */
static void read_header(const struct ibv_grh *grh, union ibv_gid *source, union ibv_gid *destination) {
  const uint8_t *bytes = (const uint8_t *)grh;
  bool ipv4 = bytes[0] == 0;
  *source = ipv4 ? mapped(bytes + 32) : grh->sgid;
  *destination = ipv4 ? mapped(bytes + 36) : grh->dgid;
}

/* Fills in the path back to the sender of a received datagram. */
int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t number, struct ibv_wc *wc, struct ibv_grh *grh,
                        struct ibv_ah_attr *path) {
  if (!has_port(number)) return EINVAL;
  const struct port *port = port_of(this_host, port_index(context, number));
  *path = (struct ibv_ah_attr){.dlid = wc->slid, .sl = wc->sl, .port_num = number};
  if ((wc->wc_flags & IBV_WC_GRH) == 0) return 0;
  path->is_global = 1;
  union ibv_gid destination;
  read_header(grh, &path->grh.dgid, &destination);
  path->grh.hop_limit = 0xff;
  for (uint32_t i = 0; i < GIDS; i++) {
    if (!same(&port->gids[i].gid, &destination)) continue;
    path->grh.sgid_index = (uint8_t)i;
    return 0;
  }
  errno = ENOENT;
  return -1;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t number) {
  struct ibv_ah_attr path;
  return ibv_init_ah_from_wc(pd->context, number, wc, grh, &path) == 0 ? ibv_create_ah(pd, &path) : NULL;
}

/* ---- groups ---- */

static bool is_free(const struct membership *membership) {
  return membership->number == 0 || pair_of_number(membership->number) == NULL;
}

static struct membership *membership_of(uint32_t number, const union ibv_gid *group) {
  for (uint32_t i = 0; i < MEMBERSHIPS; i++) {
    struct membership *membership = &fabric->memberships[i];
    if (membership->number == number && (group == NULL || same(&membership->group, group))) return membership;
  }
  return NULL;
}

bool is_in_a_group(uint32_t number) { return membership_of(number, NULL) != NULL; }

static int check_group(struct ibv_qp *qp, const char *verb, const union ibv_gid *group) {
  int error = refused(qp->context, verb);
  return error != 0 ? error : qp->qp_type != IBV_QPT_UD || !is_multicast(group) ? EINVAL : 0;
}

/*
 * On InfiniBand, checks that the LID is a multicast LID, as the kernel requires. If the group has a LID already, the
 * LID must be the group's, as some adapters require.
 */
static int check_group_lid(const union ibv_gid *group, uint32_t lid) {
  if (!is_infiniband(this_host)) return 0;
  uint32_t known = subnet_lid(group);
  return lid < FIRST_GROUP_LID || lid > LAST_GROUP_LID || (known != 0 && known != lid) ? EINVAL : 0;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *group, uint16_t lid) {
  int error = check_group(qp, "ibv_attach_mcast", group);
  if (error != 0) return error;
  lock(&fabric->membership_lock);
  error = check_group_lid(group, lid);
  if (error == 0 && membership_of(qp->qp_num, group) == NULL) {
    error = ENOMEM;
    for (uint32_t i = 0; i < MEMBERSHIPS && error != 0; i++) {
      if (!is_free(&fabric->memberships[i])) continue;
      fabric->memberships[i] = (struct membership){.group = *group, .number = qp->qp_num, .lid = lid};
      error = 0;
    }
  }
  unlock(&fabric->membership_lock);
  return error;
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *group, uint16_t lid) {
  int error = check_group(qp, "ibv_detach_mcast", group);
  if (error != 0) return error;
  lock(&fabric->membership_lock);
  struct membership *membership = membership_of(qp->qp_num, group);
  if (membership != NULL && is_infiniband(this_host) && membership->lid != lid) membership = NULL;
  if (membership != NULL) membership->number = 0;
  unlock(&fabric->membership_lock);
  return membership == NULL ? EINVAL : 0;
}

/* ---- sending ---- */

/* Returns the checksum of an IPv4 header (RFC 1071). */
static uint16_t sum_of(const uint8_t header[IPV4_BYTES]) {
  uint32_t sum = 0;
  for (int i = 0; i < IPV4_BYTES; i += 2) sum += (uint32_t)header[i] << 8 | header[i + 1];
  sum = (sum & 0xffff) + (sum >> 16);
  return (uint16_t) ~((sum & 0xffff) + (sum >> 16));
}

/* Writes an IPv4 header into the last 20 of the 40 bytes that verbs reserve for a header; the first 20 are unused. */
static void write_ipv4_header(uint8_t *at, const union ibv_gid *source, const struct work *work) {
  uint16_t length = (uint16_t)(IPV4_BYTES + work->length);
  memset(at, 0, HEADER_BYTES);
  uint8_t *header = at + HEADER_BYTES - IPV4_BYTES;
  header[0] = 0x45;
  header[2] = (uint8_t)(length >> 8);
  header[3] = (uint8_t)length;
  header[8] = 64;
  header[9] = 17;
  memcpy(header + 12, source->raw + 12, 4);
  memcpy(header + 16, work->destination.raw + 12, 4);
  uint16_t sum = sum_of(header);
  header[10] = (uint8_t)(sum >> 8);
  header[11] = (uint8_t)sum;
}

enum { TRANSPORT_BYTES = 12 + 8 + 4, IBA_TRANSPORT = 0x1b };

/* Writes the 40 bytes of header that the receiver sees: the packet's GRH on InfiniBand, its IP header on Ethernet. */
static void write_header(uint8_t *at, const struct shared_pair *own, const struct work *work) {
  struct port *port = port_of(own->host, own->device);
  const union ibv_gid *source = &port->gids[work->source_index].gid;
  bool infiniband = is_infiniband(own->host);
  if (!infiniband && is_ipv4(&work->destination)) {
    write_ipv4_header(at, source, work);
    return;
  }
  uint32_t padded = (work->length + 3) & ~3u;
  struct ibv_grh header = {.version_tclass_flow = htobe32(6u << 28 | (infiniband ? work->traffic_class << 20 : 0)),
                           .paylen = htobe16((uint16_t)(infiniband ? padded + TRANSPORT_BYTES : work->length)),
                           .next_hdr = infiniband ? IBA_TRANSPORT : 17,
                           .hop_limit = infiniband ? work->hop_limit : 64,
                           .sgid = *source,
                           .dgid = work->destination};
  memcpy(at, &header, HEADER_BYTES);
}

/* Returns the part of a receive buffer after the 40 bytes for the header. */
static struct span payload_of(const struct span *whole) {
  struct span rest = {.count = 0};
  size_t skip = HEADER_BYTES;
  for (uint32_t i = 0; i < whole->count; i++) {
    struct iovec part = whole->parts[i];
    size_t gone = part.iov_len < skip ? part.iov_len : skip;
    skip -= gone;
    if (part.iov_len == gone) continue;
    rest.parts[rest.count++] = (struct iovec){.iov_base = (char *)part.iov_base + gone, .iov_len = part.iov_len - gone};
  }
  return rest;
}

static enum copied write_datagram(struct shared_pair *target, const struct shared_pair *own, const struct work *work,
                                  const struct span *ours, const struct span *theirs) {
  uint32_t owner = atomic_load(&target->owner);
  /* the bytes for the header stay unchanged, because this packet has no header */
  if (is_infiniband(own->host) && work->is_global == 0) {
    struct span rest = payload_of(theirs);
    return copy(owner, ours, &rest, work->length, true);
  }
  uint8_t header[HEADER_BYTES];
  write_header(header, own, work);
  struct span with_header = {.parts = {{header, HEADER_BYTES}}, .count = 1};
  for (uint32_t i = 0; i < ours->count; i++) with_header.parts[with_header.count++] = ours->parts[i];
  return copy(owner, &with_header, theirs, (uint64_t)work->length + HEADER_BYTES, true);
}

static void place(struct shared_pair *target, const struct shared_pair *own, const struct work *work,
                  const struct span *ours) {
  struct span theirs;
  uint64_t length = (uint64_t)work->length + HEADER_BYTES;
  enum ibv_wc_status status = receive_span(target, length, &theirs);
  if (status == IBV_WC_SUCCESS) {
    enum copied copied = write_datagram(target, own, work, ours, &theirs);
    if (copied == NO_PROCESS) return;
    if (copied == NO_MEMORY) status = IBV_WC_LOC_PROT_ERR;
  }
  bool immediate = work->opcode == IBV_WR_SEND_WITH_IMM;
  bool global = work->is_global != 0;
  struct ibv_wc completion = {.status = status,
                              .opcode = IBV_WC_RECV,
                              .byte_len = (uint32_t)length,
                              .imm_data = immediate ? work->imm_data : 0,
                              .src_qp = own->number,
                              .slid = (uint16_t)lid_of(own->host, own->device),
                              .sl = is_infiniband(own->host) ? work->service_level : 0,
                              .wc_flags = (global ? IBV_WC_GRH : 0) | (immediate ? IBV_WC_WITH_IMM : 0)};
  complete_receive(target, completion, (work->flags & IBV_SEND_SOLICITED) != 0);
  if (status != IBV_WC_SUCCESS) fail_locked(target);
}

static bool is_to_group(const struct shared_pair *own, const struct work *work) {
  return is_infiniband(own->host) ? work->destination_lid >= FIRST_GROUP_LID : is_multicast(&work->destination);
}

/* Returns whether two keys are of the same partition, and at least one of them is that of a full member. */
static bool share_a_partition(uint32_t one, uint32_t other) {
  return ((one ^ other) & 0x7fff) == 0 && ((one | other) & 0x8000) != 0;
}

/* Returns whether the network delivers this datagram to the target's port. */
static bool is_deliverable(const struct shared_pair *target, const struct shared_pair *own, const struct work *work) {
  const struct port *far_port = port_of(target->host, target->device);
  if (is_infiniband(target->host) != is_infiniband(own->host)) return false;
  if (!is_infiniband(own->host)) {
    return is_open(far_port, target->gid_index, &work->destination, !is_multicast(&work->destination));
  }
  if (!share_a_partition(own->partition_key, target->partition_key)) return false;
  if (!is_to_group(own, work)) {
    return work->destination_lid == lid_of(target->host, target->device) &&
           is_open(far_port, target->gid_index, &work->destination, work->is_global != 0);
  }
  return is_open(far_port, 0, &work->destination, false) &&
         subnet_has(target->host, target->device, &work->destination, true);
}

/* Delivers the datagram to one queue pair, if the queue key matches and the pair has a posted receive. */
static void deliver(struct shared_pair *target, const struct shared_pair *own, const struct work *work, uint32_t key,
                    const struct span *ours) {
  if (target == NULL || target->type != IBV_QPT_UD || !is_deliverable(target, own, work)) return;
  struct port *port = port_of(own->host, own->device), *far_port = port_of(target->host, target->device);
  lock(&target->lock);
  uint32_t state = atomic_load(&target->state);
  bool takes = (state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD) && target->queue_key == key &&
               atomic_load(&target->receive_head) != atomic_load(&target->receive_tail);
  if (takes) place(target, own, work, ours);
  unlock(&target->lock);
  if (takes) count_bytes(port, work->source_index, far_port, work->length);
}

/*
 * Returns whether switches accept the packet for its group. On InfiniBand, they do so only from ports that have joined
 * the group.
 */
static bool may_send_to_group(const struct shared_pair *own, const struct work *work) {
  if (!is_infiniband(own->host)) return true;
  lock(&fabric->membership_lock);
  bool fits = subnet_lid(&work->destination) == work->destination_lid;
  unlock(&fabric->membership_lock);
  return fits && subnet_has(own->host, own->device, &work->destination, false);
}

void send_datagram(struct queue_pair *pair, const struct work *work, const struct span *ours) {
  struct shared_pair *own = pair->shared;
  struct port *port = port_of(own->host, own->device);
  uint32_t key = (work->remote_key & PRIVILEGED_KEY) != 0 ? own->queue_key : work->remote_key;
  if (!is_open(port, work->source_index, &port->gids[work->source_index].gid, true)) return;
  if (!is_to_group(own, work)) {
    deliver(pair_of_number(work->remote_number), own, work, key, ours);
    return;
  }
  if (work->remote_number != MULTICAST_NUMBER || !may_send_to_group(own, work)) return;
  for (uint32_t i = 0; i < MEMBERSHIPS; i++) {
    lock(&fabric->membership_lock);
    struct membership membership = fabric->memberships[i];
    unlock(&fabric->membership_lock);
    if (membership.number == 0 || !same(&membership.group, &work->destination)) continue;
    if (is_infiniband(own->host) && membership.lid != work->destination_lid) continue;
    deliver(pair_of_number(membership.number), own, work, key, ours);
  }
}

/* ---- for the communication manager ---- */

int standin_cm_join(struct ibv_context *context, const union ibv_gid *group, bool receives, uint32_t *lid) {
  return subnet_join(self, this_host, device_of(context), group, receives, lid);
}

bool standin_cm_leave(struct ibv_context *context, const union ibv_gid *group, bool receives) {
  return subnet_leave(self, this_host, device_of(context), group, receives);
}

int standin_cm_refused(struct ibv_context *context, const char *call) { return refused(context, call); }
