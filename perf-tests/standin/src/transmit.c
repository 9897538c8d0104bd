/*
 * Transmission of a work request: the checks of the sender's adapter, those of the receiver's adapter, the copy, and
 * the receiver's completion. The sender's process does all of this while it holds the receiving pair's lock, so that a
 * peer has no effect on a pair that has left its receiving states.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "transmit.h"

/* ---- errors of a pair ---- */

void flush_receives(struct shared_pair *pair) {
  uint32_t slot = (uint32_t)(pair - fabric->pairs);
  uint64_t head = atomic_load(&pair->receive_head);
  for (; head < atomic_load(&pair->receive_tail); head++) {
    const struct shared_receive *receive = &fabric->receives[slot][head % PAIR_ENTRIES];
    struct shared_completion completion = {
        .wc = {.wr_id = receive->wr_id, .status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV, .qp_num = pair->number},
        .pair = slot,
        .epoch = atomic_load(&pair->epoch),
        .releases = 1,
        .receive = 1};
    push_completion(&fabric->queues[pair->receive_queue], &completion, true);
  }
  atomic_store(&pair->receive_head, head);
}

void fail_locked(struct shared_pair *pair) {
  uint32_t state = atomic_load(&pair->state);
  if (state == IBV_QPS_RESET) return;
  atomic_store(&pair->state, IBV_QPS_ERR);
  flush_receives(pair);
}

static void notify_owner(struct shared_pair *pair, enum message_kind kind, uint32_t event) {
  send_message(
      atomic_load(&pair->owner),
      (struct message){.kind = kind, .event = event, .index = (uint32_t)(pair - fabric->pairs), .epoch = pair->number});
}

void pair_to_error(struct shared_pair *pair) {
  lock(&pair->lock);
  fail_locked(pair);
  unlock(&pair->lock);
  notify_owner(pair, MESSAGE_FLUSH, 0);
}

/* ---- the sender's side ---- */

/*
 * Sets `span` to the memory that a request sends, or that a read fills. Returns false if a key is wrong, or its region
 * doesn't allow the access.
 */
static bool local_span(struct queue_pair *pair, const struct work *work, struct span *span) {
  span->count = 0;
  if ((work->flags & IBV_SEND_INLINE) != 0) {
    size_t slot = (size_t)(work - pair->work);
    span->parts[0] = (struct iovec){pair->inline_data + slot * (pair->capacity.max_inline_data + 1), work->length};
    span->count = 1;
    return true;
  }
  uint32_t access = work->opcode == IBV_WR_RDMA_READ ? IBV_ACCESS_LOCAL_WRITE : 0;
  for (uint32_t i = 0; i < work->num_sge; i++) {
    uint64_t address = work->sge[i].addr;
    if (work->sge[i].length == 0) continue;
    if (!region_allows(work->sge[i].lkey, pair->shared->domain, &address, work->sge[i].length, access)) return false;
    span->parts[span->count++] = (struct iovec){(void *)(uintptr_t)address, work->sge[i].length};
  }
  return true;
}

/* Returns the error status that the control program injected for this request, or success. */
static int injected_status(struct port *port) {
  int status = IBV_WC_SUCCESS;
  if (port->work.count == 0) return status;
  lock(&port->lock);
  if (port->work.count != 0 && port->work.after > 0) {
    port->work.after--;
  } else if (port->work.count != 0) {
    port->work.count--;
    status = port->work.code;
  }
  unlock(&port->lock);
  return status;
}

static bool same(const union ibv_gid *one, const union ibv_gid *other) { return memcmp(one, other, sizeof *one) == 0; }

bool is_open(const struct port *port, uint32_t index, const union ibv_gid *gid, bool is_global) {
  if (atomic_load_explicit(&port->state, memory_order_relaxed) != IBV_PORT_ACTIVE) return false;
  if (atomic_load_explicit(&port->silent, memory_order_relaxed) != 0) return false;
  if (!is_global) return true;
  if (same(&port->gids[index].gid, gid)) return !port->gids[index].cut;
  for (uint32_t i = 0; i < GIDS; i++) {
    if (same(&port->gids[i].gid, gid)) return !port->gids[i].cut;
  }
  return false;
}

/* ---- the copy ---- */

static enum copied copy_here(const struct span *from, const struct span *to) {
  size_t part = 0, done = 0;
  for (uint32_t i = 0; i < from->count; i++) {
    const char *at = from->parts[i].iov_base;
    size_t left = from->parts[i].iov_len;
    while (left > 0 && part < to->count) {
      size_t length = to->parts[part].iov_len - done < left ? to->parts[part].iov_len - done : left;
      memmove((char *)to->parts[part].iov_base + done, at, length);
      at += length;
      left -= length;
      done += length;
      if (done == to->parts[part].iov_len) {
        part++;
        done = 0;
      }
    }
  }
  return COPIED;
}

enum copied copy(uint32_t owner, const struct span *ours, const struct span *theirs, uint64_t length, bool writes) {
  pid_t pid = (pid_t)atomic_load(&fabric->processes[owner - 1].pid);
  if (owner == self) return writes ? copy_here(ours, theirs) : copy_here(theirs, ours);
  if (length == 0) return pid != 0 && (kill(pid, 0) == 0 || errno == EPERM) ? COPIED : NO_PROCESS;
  if (pid == 0) return NO_PROCESS;
  ssize_t moved = writes ? process_vm_writev(pid, ours->parts, ours->count, theirs->parts, theirs->count, 0)
                         : process_vm_readv(pid, ours->parts, ours->count, theirs->parts, theirs->count, 0);
  if (moved == (ssize_t)length) return COPIED;
  if (moved < 0 && errno == ESRCH) return NO_PROCESS;
  if (moved < 0 && errno == EPERM) {
    fprintf(stderr,
            "verbs-standin: the kernel refuses access to process %d; run both as one user, or sysctl "
            "kernel.yama.ptrace_scope=0\n",
            (int)pid);
  }
  return NO_MEMORY;
}

/* ---- the receiver's side, with its lock held ---- */

static uint32_t packets_of(const struct work *work, uint32_t mtu_bytes) {
  return work->length == 0 ? 1 : (work->length + mtu_bytes - 1) / mtu_bytes;
}

static enum outcome refuse(struct work *work, uint32_t status, struct shared_pair *target, enum ibv_event_type event) {
  work->status = status;
  fail_locked(target);
  notify_owner(target, MESSAGE_PAIR_EVENT, event);
  return FAILED;
}

static enum outcome refuse_copy(struct work *work, enum copied copied, struct shared_pair *target) {
  if (copied == NO_PROCESS) return LOST;
  return refuse(work, IBV_WC_REM_OP_ERR, target, IBV_EVENT_QP_FATAL);
}

void complete_receive(struct shared_pair *target, struct ibv_wc completion, bool solicited) {
  uint32_t slot = (uint32_t)(target - fabric->pairs);
  uint64_t head = atomic_load_explicit(&target->receive_head, memory_order_relaxed);
  completion.wr_id = fabric->receives[slot][head % PAIR_ENTRIES].wr_id;
  completion.qp_num = target->number;
  struct shared_completion entry = {
      .wc = completion, .pair = slot, .epoch = atomic_load(&target->epoch), .releases = 1, .receive = 1};
  atomic_store_explicit(&target->receive_head, head + 1, memory_order_release);
  push_completion(&fabric->queues[target->receive_queue], &entry, solicited);
}

static void complete_with(struct shared_pair *target, const struct work *work, enum ibv_wc_status status,
                          bool written) {
  bool immediate = work->opcode != IBV_WR_SEND;
  struct ibv_wc completion = {.status = status,
                              .opcode = written ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
                              .byte_len = work->length,
                              .imm_data = immediate ? work->imm_data : 0,
                              .src_qp = target->peer,
                              .wc_flags = immediate ? IBV_WC_WITH_IMM : 0};
  complete_receive(target, completion, (work->flags & IBV_SEND_SOLICITED) != 0);
}

enum ibv_wc_status receive_span(const struct shared_pair *target, uint64_t length, struct span *span) {
  uint32_t slot = (uint32_t)(target - fabric->pairs);
  const struct shared_receive *receive = &fabric->receives[slot][atomic_load(&target->receive_head) % PAIR_ENTRIES];
  span->count = 0;
  for (uint32_t i = 0; i < receive->num_sge && length > 0; i++) {
    uint64_t address = receive->sge[i].addr, part = receive->sge[i].length < length ? receive->sge[i].length : length;
    if (part == 0) continue;
    if (!region_allows(receive->sge[i].lkey, target->domain, &address, receive->sge[i].length,
                       IBV_ACCESS_LOCAL_WRITE)) {
      return IBV_WC_LOC_PROT_ERR;
    }
    span->parts[span->count++] = (struct iovec){(void *)(uintptr_t)address, part};
    length -= part;
  }
  return length > 0 ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
}

/* Places a message into the oldest posted buffer. */
static enum outcome place_message(struct work *work, const struct span *ours, struct shared_pair *target) {
  struct span theirs;
  enum ibv_wc_status status = receive_span(target, work->length, &theirs);
  if (status != IBV_WC_SUCCESS) {
    complete_with(target, work, status, false);
    return status == IBV_WC_LOC_LEN_ERR ? refuse(work, IBV_WC_REM_INV_REQ_ERR, target, IBV_EVENT_QP_REQ_ERR)
                                        : refuse(work, IBV_WC_REM_OP_ERR, target, IBV_EVENT_QP_FATAL);
  }
  enum copied copied = copy(atomic_load(&target->owner), ours, &theirs, work->length, true);
  if (copied != COPIED) return refuse_copy(work, copied, target);
  complete_with(target, work, IBV_WC_SUCCESS, false);
  return DONE;
}

/* Executes an RDMA WRITE, with or without immediate, or an RDMA READ. */
static enum outcome access_memory(struct shared_pair *own, struct work *work, const struct span *ours,
                                  struct shared_pair *target) {
  bool reads = work->opcode == IBV_WR_RDMA_READ;
  uint32_t access = reads ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
  if ((target->access & access) == 0 || (reads && target->reads_granted == 0)) {
    return refuse(work, IBV_WC_REM_INV_REQ_ERR, target, IBV_EVENT_QP_REQ_ERR);
  }
  uint64_t address = work->remote_address;
  uint32_t owner = atomic_load(&target->owner);
  enum copied copied;
  if (work->length == 0) { /* without a length, address and key are ignored */
    copied = copy(owner, ours, ours, 0, true);
  } else if (!hold_region(own, work->remote_key, target->domain, &address, work->length, access)) {
    return refuse(work, IBV_WC_REM_ACCESS_ERR, target, IBV_EVENT_QP_ACCESS_ERR);
  } else {
    struct span theirs = {.parts = {{(void *)(uintptr_t)address, work->length}}, .count = 1};
    copied = copy(owner, ours, &theirs, work->length, !reads);
    atomic_store_explicit(&own->copying, 0, memory_order_release);
  }
  if (copied != COPIED) return refuse_copy(work, copied, target);
  if (work->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) complete_with(target, work, IBV_WC_SUCCESS, true);
  return DONE;
}

static enum outcome receive(struct shared_pair *own, struct work *work, uint32_t psn, const struct span *ours,
                            struct shared_pair *target, uint64_t *wait_ns) {
  uint32_t state = atomic_load(&target->state);
  if (state != IBV_QPS_RTR && state != IBV_QPS_RTS && state != IBV_QPS_SQD) return LOST;
  /* The packet is of another connection, or outside this connection's window. */
  if (target->peer != own->number || target->expected_psn != psn) return LOST;
  if (work->length > target->mtu_bytes && own->mtu_bytes > target->mtu_bytes) {
    return refuse(work, IBV_WC_REM_INV_REQ_ERR, target, IBV_EVENT_QP_REQ_ERR);
  }
  bool plain = work->opcode == IBV_WR_RDMA_WRITE || work->opcode == IBV_WR_RDMA_READ;
  if (!plain && atomic_load(&target->receive_head) == atomic_load(&target->receive_tail)) {
    *wait_ns = rnr_wait_ns(target->rnr_timer);
    return NOT_READY;
  }
  if (!target->established) {
    target->established = true;
    if (state == IBV_QPS_RTR) notify_owner(target, MESSAGE_PAIR_EVENT, IBV_EVENT_COMM_EST);
  }
  bool message = work->opcode == IBV_WR_SEND || work->opcode == IBV_WR_SEND_WITH_IMM;
  enum outcome outcome = message ? place_message(work, ours, target) : access_memory(own, work, ours, target);
  if (outcome == DONE) target->expected_psn = (psn + packets_of(work, own->mtu_bytes)) & 0xffffff;
  return outcome;
}

void count_bytes(struct port *from, uint32_t gid_index, struct port *to, uint32_t length) {
  atomic_fetch_add_explicit(&from->gids[gid_index].sent_bytes, length, memory_order_relaxed);
  atomic_fetch_add_explicit(&from->sent_bytes, length, memory_order_relaxed);
  atomic_fetch_add_explicit(&from->sent_messages, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&to->received_bytes, length, memory_order_relaxed);
  atomic_fetch_add_explicit(&to->received_messages, 1, memory_order_relaxed);
}

enum outcome transmit(struct queue_pair *pair, struct work *work, uint64_t *wait_ns) {
  struct shared_pair *own = pair->shared;
  struct port *port = port_of(own->host, own->device);
  struct span ours;
  if (work->status == IBV_WC_SUCCESS) work->status = (uint32_t)injected_status(port);
  if (work->status == IBV_WC_SUCCESS && !local_span(pair, work, &ours)) work->status = IBV_WC_LOC_PROT_ERR;
  if (work->status != IBV_WC_SUCCESS) return FAILED;
  if (own->type == IBV_QPT_UD) {
    send_datagram(pair, work, &ours);
    return DONE;
  }
  struct shared_pair *target = peer_of(own);
  if (target == NULL || !is_open(port, own->gid_index, &own->gid, own->is_global)) return LOST;
  struct port *far_port = port_of(target->host, target->device);
  if (!is_open(far_port, target->gid_index, &own->peer_gid, own->is_global)) return LOST;
  lock(&target->lock);
  enum outcome outcome = receive(own, work, pair->next_psn, &ours, target, wait_ns);
  unlock(&target->lock);
  if (outcome == DONE) {
    pair->next_psn = (pair->next_psn + packets_of(work, own->mtu_bytes)) & 0xffffff;
    if (work->opcode == IBV_WR_RDMA_READ)
      count_bytes(far_port, target->gid_index, port, work->length);
    else
      count_bytes(port, own->gid_index, far_port, work->length);
  }
  return outcome;
}
