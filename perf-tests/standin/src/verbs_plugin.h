/* Declarations shared by verbs_plugin.c and verbs_path.c. Sizes and queue depths equal Heddle's. */
#ifndef VERBS_PLUGIN_H
#define VERBS_PLUGIN_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nccl_abi.h"

enum {
  MAX_PLANES = 16,
  LINES = 256,
  GROUPS = 256,
  RECEIVES = 8,
  CHUNK_BYTES = 1 << 16,
  MAX_CHUNKS = 64,
  SENDS = 256,
  RECEIVE_DEPTH = 512,
  BATCH = 64,
  WINDOW_BYTES = 16 << 20
};

enum { PENDING, DONE, RELEASED };

struct comm;

/* A request of NCCL's. */
struct line {
  _Alignas(64) _Atomic int state;
  int count, sizes[RECEIVES];
  struct comm *comm;
};

/* A clear-to-send entry, in its wire format. */
struct entry {
  uint64_t address;
  uint32_t length;
  int32_t tag;
  uint32_t key;
  uint8_t receives, generation, zero[2];
  uint32_t check, zeros[7];
  _Atomic uint64_t sequence;
};
_Static_assert(sizeof(struct entry) == 64 && offsetof(struct entry, sequence) == 56, "one line");

/* One plane's queue pair, its chunks in flight, and its counters. */
struct flow {
  struct ibv_qp *qp;
  uint64_t index;
  struct ibv_send_wr requests[BATCH];
  struct ibv_sge pieces[BATCH];
  struct ibv_recv_wr receives[BATCH];
  int batched, free_sends, consumed;
  uint64_t posted_ns[SENDS];
  uint32_t posted, completed;
  uint64_t bytes_in_flight, virtual_time, cost, share; /* cost: virtual time per byte, by the plane's weight */
  int chunks_in_flight;
  uint64_t sent_bytes, sent_chunks, acknowledged_bytes, latencies[64], ahead[8];
};

struct send {
  uint64_t address, remote_address, length;
  uint32_t local_key, remote_key, chunk_bytes, immediate;
  int count, next, unacknowledged;
};

/* An open group of receives. */
struct slot {
  struct line *line;
  int receives, missing;
  uint8_t generation;
  uint32_t chunks[RECEIVES];
  uint64_t arrived[RECEIVES], bytes[RECEIVES], posted_bytes[RECEIVES];
};

struct comm {
  struct line lines[LINES];
  bool sending;
  int planes;
  uint32_t cursor;
  struct comm *peer;
  struct ibv_cq *cq;
  struct entry *ring; /* array of GROUPS times RECEIVES entries */
  struct ibv_mr *ring_memory;
  uint64_t messages;
  /*
   * state of a sender: the number of the group at the ring's head, a mask of its receives that have a send, and the
   * sends with chunks to be posted
   */
  uint64_t group;
  uint32_t matched;
  struct send sends[LINES];
  int backlog[LINES];
  uint64_t backlog_head, backlog_tail, limit_at;
  /*
   * state of a receiver: the number of the oldest unreleased group and of the next group to open, and whether each
   * group's entries are being written
   */
  uint64_t oldest, next;
  struct slot slots[GROUPS];
  bool written[GROUPS];
  int last_flow;
  struct ibv_wc completions[BATCH];
  struct flow flows[MAX_PLANES];
};

/* Logs the failed call to NCCL's logger. Returns NCCL_SYSTEM_ERROR. */
int verbs_warn(const char *what, int error);

/* functions of verbs_path.c */
int verbs_isend(void *comm, void *data, size_t size, int tag, void *memory, void *profiler, void **request);
int verbs_irecv(void *comm, int n, void **data, size_t *sizes, int *tags, void **memory, void **profilers,
                void **request);
int verbs_test(void *request, int *done, int *sizes);
int verbs_post_receives(struct flow *flow, int count);

#endif
