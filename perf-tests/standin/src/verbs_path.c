/* The data path of verbs_plugin.c. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "verbs_plugin.h"

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- work requests of one plane ---- */

static bool has_room(const struct flow *flow) { return flow->batched < BATCH && flow->free_sends > 0; }

static struct ibv_send_wr *add(struct flow *flow) {
  struct ibv_send_wr *request = &flow->requests[flow->batched];
  request->next = NULL;
  request->sg_list = &flow->pieces[flow->batched];
  request->num_sge = 1;
  request->send_flags = IBV_SEND_SIGNALED;
  if (flow->batched > 0) flow->requests[flow->batched - 1].next = request;
  flow->batched++;
  flow->free_sends--;
  return request;
}

static int post_flows(struct comm *comm) {
  uint64_t now = now_ns();
  for (int i = 0; i < comm->planes; i++) {
    struct flow *flow = &comm->flows[i];
    if (flow->batched == 0) continue;
    struct ibv_send_wr *bad;
    for (int k = 0; k < flow->batched; k++) flow->posted_ns[flow->posted++ % SENDS] = now;
    flow->batched = 0;
    int error = ibv_post_send(flow->qp, flow->requests, &bad);
    if (error != 0) return verbs_warn("ibv_post_send", error);
  }
  return NCCL_SUCCESS;
}

static uint64_t id_of(int flow, int chunk, int line, uint32_t length) {
  return (uint64_t)length << 32 | (uint64_t)flow << 14 | (uint64_t)chunk << 8 | (uint64_t)line;
}

/* ---- clear-to-send entries ---- */

static uint32_t check_of(const struct entry *entry, uint64_t sequence) {
  uint64_t words[3];
  memcpy(words, entry, sizeof words);
  uint64_t mixed = sequence * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ words[0]) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ words[1]) * 0x94d049bb133111ebu;
  mixed = (mixed ^ words[2]) * 0x9e3779b97f4a7c15u;
  return (uint32_t)(mixed ^ mixed >> 32);
}

static bool is_of(const struct entry *entry, uint64_t group) {
  return atomic_load_explicit(&entry->sequence, memory_order_acquire) == group + 1 &&
         entry->check == check_of(entry, group + 1);
}

static int receives_ready(const struct comm *comm, const struct entry *entries) {
  if (!is_of(entries, comm->group)) return 0;
  int receives = entries[0].receives;
  for (int i = 1; i < receives; i++) {
    if (!is_of(&entries[i], comm->group)) return 0;
  }
  return receives;
}

/* ---- requests ---- */

static struct line *claim(struct comm *comm) {
  for (int i = 0; i < LINES; i++) {
    struct line *line = &comm->lines[comm->cursor++ % LINES];
    if (line->state == RELEASED) {
      line->state = PENDING;
      return line;
    }
  }
  return NULL;
}

/* ---- sending ---- */

static uint64_t charge(const struct flow *flow, uint32_t length) {
  return (length < 64 ? 64 : length) * flow->cost >> 16;
}

static int choose(const struct comm *comm, uint32_t length) {
  int best = -1;
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < comm->planes; i++) {
    const struct flow *flow = &comm->flows[i];
    if (flow->chunks_in_flight >= RECEIVE_DEPTH / 2 ||
        (flow->bytes_in_flight != 0 && flow->bytes_in_flight + length > flow->share)) {
      continue;
    }
    if (flow->virtual_time + charge(flow, length) < least) {
      least = flow->virtual_time + charge(flow, length);
      best = i;
    }
  }
  return best;
}

/*
 * Limits the lag of a plane's virtual time behind the furthest plane's. A plane that was full then catches up by only
 * about one window.
 */
static void limit_lag(struct comm *comm) {
  uint64_t furthest = 0, most = ((uint64_t)WINDOW_BYTES << 16) / (uint64_t)comm->planes;
  for (int i = 0; i < comm->planes; i++) {
    if (comm->flows[i].virtual_time > furthest) furthest = comm->flows[i].virtual_time;
  }
  for (int i = 0; furthest > most && i < comm->planes; i++) {
    if (comm->flows[i].virtual_time < furthest - most) comm->flows[i].virtual_time = furthest - most;
  }
  comm->limit_at = furthest + most / 4;
}

static void started(struct comm *comm, struct flow *flow, uint32_t length) {
  flow->bytes_in_flight += length;
  flow->chunks_in_flight++;
  flow->virtual_time += charge(flow, length);
  flow->sent_bytes += length;
  flow->sent_chunks++;
  if (flow->virtual_time >= comm->limit_at) limit_lag(comm);
}

/* Posts chunks of a send while there is room. Returns whether all its chunks are posted. */
static bool post_chunks(struct comm *comm, int line) {
  struct send *send = &comm->sends[line];
  for (; send->next < send->count; send->next++) {
    uint64_t start = (uint64_t)send->next * send->chunk_bytes;
    uint64_t left = send->length - start;
    uint32_t length = left < send->chunk_bytes ? (uint32_t)left : send->chunk_bytes;
    int plane = choose(comm, length);
    if (plane < 0 || !has_room(&comm->flows[plane])) return false;
    struct ibv_send_wr *request = add(&comm->flows[plane]);
    request->wr_id = id_of(plane, send->next, line, length);
    request->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    request->imm_data = __builtin_bswap32(send->immediate | (uint32_t)send->next << 11);
    *request->sg_list = (struct ibv_sge){send->address + start, length, send->local_key};
    request->num_sge = length == 0 ? 0 : 1;
    request->wr.rdma.remote_addr = send->remote_address + start;
    request->wr.rdma.rkey = send->remote_key;
    started(comm, &comm->flows[plane], length);
  }
  return true;
}

static int post_backlog(struct comm *comm) {
  while (comm->backlog_head != comm->backlog_tail && post_chunks(comm, comm->backlog[comm->backlog_head % LINES])) {
    comm->backlog_head++;
  }
  return post_flows(comm);
}

int verbs_isend(void *opaque, void *data, size_t size, int tag, void *memory, void *profiler, void **request) {
  (void)profiler;
  struct comm *comm = opaque;
  struct entry *entries = &comm->ring[comm->group % GROUPS * RECEIVES];
  *request = NULL;
  int receives = receives_ready(comm, entries), receive = -1;
  for (int i = 0; i < receives && receive < 0; i++) {
    if ((comm->matched & 1u << i) == 0 && entries[i].tag == tag) receive = i;
  }
  if (receive < 0) return NCCL_SUCCESS;
  /* the send is truncated, as in NCCL's own transport */
  if (size > entries[receive].length) size = entries[receive].length;
  struct line *line = claim(comm);
  if (line == NULL) return NCCL_SUCCESS;
  int number = (int)(line - comm->lines);
  struct send *send = &comm->sends[number];
  uint64_t wanted = (size + MAX_CHUNKS - 1) / MAX_CHUNKS;
  uint32_t chunk = (uint32_t)((wanted + CHUNK_BYTES - 1) / CHUNK_BYTES * CHUNK_BYTES);
  if (chunk == 0) chunk = CHUNK_BYTES;
  int count = size == 0 ? 1 : (int)((size + chunk - 1) / chunk);
  *send =
      (struct send){.address = (uintptr_t)data,
                    .remote_address = entries[receive].address,
                    .length = size,
                    .local_key = memory == NULL ? 0 : ((struct ibv_mr *)memory)->lkey,
                    .remote_key = entries[receive].key,
                    .chunk_bytes = chunk,
                    .count = count,
                    .unacknowledged = count,
                    .immediate = (uint32_t)(comm->group % GROUPS) << 24 | (uint32_t)entries[receive].generation << 20 |
                                 (uint32_t)receive << 17 | (uint32_t)(count - 1) << 5};
  line->sizes[0] = (int)size;
  comm->messages++;
  comm->backlog[comm->backlog_tail++ % LINES] = number;
  comm->matched |= 1u << receive;
  if (comm->matched == (1u << receives) - 1) {
    comm->matched = 0;
    comm->group++;
  }
  *request = line;
  return post_backlog(comm);
}

static void complete(struct line *line, int count) {
  line->count = count;
  atomic_store_explicit(&line->state, DONE, memory_order_release);
}

static void acknowledged(struct comm *comm, struct flow *flow, const struct ibv_wc *completion, uint64_t polled_ns) {
  uint64_t took = polled_ns - flow->posted_ns[flow->completed++ % SENDS];
  uint32_t length = (uint32_t)(completion->wr_id >> 32);
  flow->free_sends++;
  flow->latencies[took == 0 ? 0 : 63 - __builtin_clzll(took)]++;
  flow->acknowledged_bytes += length;
  if (!comm->sending) {
    comm->written[completion->wr_id & 0xff] = false;
    return;
  }
  int line = (int)(completion->wr_id & 0xff);
  flow->bytes_in_flight -= length;
  flow->chunks_in_flight--;
  if (--comm->sends[line].unacknowledged == 0) complete(&comm->lines[line], 1);
}

/* ---- receiving ---- */

/* Returns the next flow with room, round robin over the planes; NULL if there is none. */
static struct flow *next_flow(struct comm *comm) {
  for (int i = 0; i < comm->planes; i++) {
    comm->last_flow = (comm->last_flow + 1) % comm->planes;
    if (has_room(&comm->flows[comm->last_flow])) return &comm->flows[comm->last_flow];
  }
  return NULL;
}

int verbs_irecv(void *opaque, int n, void **data, size_t *sizes, int *tags, void **memory, void **profilers,
                void **request) {
  (void)profilers;
  struct comm *comm = opaque;
  *request = NULL;
  uint32_t slot = (uint32_t)(comm->next % GROUPS);
  if (n < 1 || n > RECEIVES) return NCCL_INVALID_ARGUMENT;
  if (comm->next - comm->oldest == GROUPS || comm->written[slot]) return NCCL_SUCCESS;
  struct flow *flow = next_flow(comm);
  struct line *line = flow == NULL ? NULL : claim(comm);
  if (line == NULL) return NCCL_SUCCESS;
  struct entry *entries = &comm->ring[slot * RECEIVES];
  struct slot *open = &comm->slots[slot];
  open->line = line;
  open->receives = open->missing = n;
  for (int i = 0; i < n; i++) {
    open->arrived[i] = 0;
    open->chunks[i] = 0;
    open->bytes[i] = 0;
    open->posted_bytes[i] = sizes[i];
    entries[i].address = (uintptr_t)data[i];
    entries[i].length = (uint32_t)sizes[i];
    entries[i].tag = tags[i];
    entries[i].key = memory[i] == NULL ? 0 : ((struct ibv_mr *)memory[i])->rkey;
    entries[i].receives = (uint8_t)n;
    entries[i].generation = open->generation;
    entries[i].check = check_of(&entries[i], comm->next + 1);
    atomic_store_explicit(&entries[i].sequence, comm->next + 1, memory_order_relaxed);
  }
  struct ibv_send_wr *write = add(flow);
  write->wr_id = id_of((int)flow->index, 0, (int)slot, 0);
  write->opcode = IBV_WR_RDMA_WRITE;
  *write->sg_list =
      (struct ibv_sge){(uintptr_t)entries, (uint32_t)((size_t)n * sizeof *entries), comm->ring_memory->lkey};
  write->wr.rdma.remote_addr = (uintptr_t)&comm->peer->ring[slot * RECEIVES];
  write->wr.rdma.rkey = comm->peer->ring_memory->rkey;
  comm->written[slot] = true;
  comm->next++;
  *request = line;
  return post_flows(comm);
}

static bool record(struct comm *comm, struct flow *flow, const struct ibv_wc *completion) {
  uint32_t immediate = __builtin_bswap32(completion->imm_data);
  struct slot *slot = &comm->slots[immediate >> 24];
  uint32_t receive = immediate >> 17 & 7, chunk = immediate >> 11 & 63, chunks = (immediate >> 5 & 63) + 1;
  if (chunk >= chunks || slot->generation != (immediate >> 20 & 15) || receive >= (uint32_t)slot->receives ||
      (slot->chunks[receive] != 0 && slot->chunks[receive] != chunks) || (slot->arrived[receive] >> chunk & 1) != 0) {
    return false;
  }
  slot->chunks[receive] = chunks;
  slot->arrived[receive] |= 1ull << chunk;
  slot->bytes[receive] += completion->byte_len;
  if (__builtin_popcountll(slot->arrived[receive]) == (int)chunks) slot->missing--;
  flow->sent_bytes += completion->byte_len;
  flow->sent_chunks++;
  uint64_t gaps = ~slot->arrived[receive];
  int gap = gaps == 0 ? 64 : __builtin_ctzll(gaps);
  flow->ahead[(int)chunk > gap ? 32 - __builtin_clz(chunk - (uint32_t)gap) : 0]++;
  return true;
}

int verbs_post_receives(struct flow *flow, int count) {
  struct ibv_recv_wr *bad;
  for (int posted = 0; posted < count; posted += BATCH) {
    int now = count - posted < BATCH ? count - posted : BATCH;
    for (int i = 0; i < now; i++) {
      flow->receives[i] =
          (struct ibv_recv_wr){.wr_id = flow->index, .next = i + 1 < now ? &flow->receives[i + 1] : NULL};
    }
    int error = ibv_post_recv(flow->qp, flow->receives, &bad);
    if (error != 0) return verbs_warn("ibv_post_recv", error);
  }
  return NCCL_SUCCESS;
}

static int arrived(struct comm *comm, const struct ibv_wc *completion) {
  struct flow *flow = &comm->flows[completion->wr_id];
  if (!record(comm, flow, completion)) return verbs_warn("an immediate contradicts what was received", EPROTO);
  if (++flow->consumed < RECEIVE_DEPTH / 4) return NCCL_SUCCESS;
  int count = flow->consumed;
  flow->consumed = 0;
  return verbs_post_receives(flow, count);
}

static int release_full(struct comm *comm) {
  while (comm->oldest != comm->next && comm->slots[comm->oldest % GROUPS].missing == 0) {
    struct slot *slot = &comm->slots[comm->oldest % GROUPS];
    for (int i = 0; i < slot->receives; i++) {
      if (slot->bytes[i] > slot->posted_bytes[i]) return verbs_warn("more bytes than were asked for", EMSGSIZE);
      slot->line->sizes[i] = (int)slot->bytes[i];
    }
    int receives = slot->receives;
    slot->generation = (slot->generation + 1) & 15;
    slot->receives = 0;
    comm->oldest++;
    comm->messages++;
    complete(slot->line, receives);
  }
  return NCCL_SUCCESS;
}

/* ---- sending and receiving ---- */

static int advance(struct comm *comm) {
  int count, result = NCCL_SUCCESS;
  do {
    count = ibv_poll_cq(comm->cq, BATCH, comm->completions);
    if (count < 0) return verbs_warn("ibv_poll_cq", EIO);
    uint64_t polled_ns = count > 0 ? now_ns() : 0;
    for (int i = 0; i < count && result == NCCL_SUCCESS; i++) {
      const struct ibv_wc *completion = &comm->completions[i];
      if (completion->status != IBV_WC_SUCCESS) return verbs_warn(ibv_wc_status_str(completion->status), EIO);
      if (completion->opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
        result = arrived(comm, completion);
      } else {
        acknowledged(comm, &comm->flows[completion->wr_id >> 14 & 63], completion, polled_ns);
      }
    }
  } while (count == BATCH && result == NCCL_SUCCESS);
  if (result != NCCL_SUCCESS) return result;
  if (!comm->sending) return release_full(comm);
  return comm->backlog_head != comm->backlog_tail ? post_backlog(comm) : NCCL_SUCCESS;
}

int verbs_test(void *opaque, int *done, int *sizes) {
  struct line *line = opaque;
  *done = 0;
  int state = atomic_load_explicit(&line->state, memory_order_acquire);
  if (state == PENDING) {
    int result = advance(line->comm);
    if (result != NCCL_SUCCESS) return result;
    state = atomic_load_explicit(&line->state, memory_order_acquire);
    if (state == PENDING) return NCCL_SUCCESS;
  }
  *done = 1;
  if (sizes != NULL) memcpy(sizes, line->sizes, (size_t)line->count * sizeof *sizes);
  atomic_store_explicit(&line->state, RELEASED, memory_order_release);
  return NCCL_SUCCESS;
}
