/* Transmission of work requests, for both kinds of queue pairs. */
#ifndef STANDIN_TRANSMIT_H
#define STANDIN_TRANSMIT_H

#include <sys/uio.h>

#include "local.h"

enum outcome { DONE, FAILED, NOT_READY, LOST };

/*
 * Executes a work request at both ends. If the outcome is FAILED, sets the request's status; if it is NOT_READY, sets
 * `wait_ns` to the time that the receiver requests before a retry.
 */
enum outcome transmit(struct queue_pair *pair, struct work *work, uint64_t *wait_ns);

/*
 * Moves a pair to the error state and flushes its receives. The stand-in library's thread in the pair's process flushes
 * the sends.
 */
void pair_to_error(struct shared_pair *pair);
/* Like pair_to_error, but the caller holds the pair's lock, and the process isn't notified. */
void fail_locked(struct shared_pair *pair);
void flush_receives(struct shared_pair *pair);

/* Parts of memory, in order. There is one more part than a request can have, for a datagram's header. */
struct span {
  struct iovec parts[MAX_SGE + 1];
  uint32_t count;
};

enum copied { COPIED, NO_PROCESS, NO_MEMORY };

/*
 * Copies between this process and the process `owner`, which may be the same. `writes`: true to copy from `ours` to
 * `theirs`, false for the reverse. Both spans have the same length.
 */
enum copied copy(uint32_t owner, const struct span *ours, const struct span *theirs, uint64_t length, bool writes);

/*
 * Sets span to the first `length` bytes of the oldest posted receive. The caller holds the pair's lock. Returns
 * IBV_WC_SUCCESS or an error status.
 */
enum ibv_wc_status receive_span(const struct shared_pair *target, uint64_t length, struct span *span);
/* Completes the oldest posted receive with `completion`. */
void complete_receive(struct shared_pair *target, struct ibv_wc completion, bool solicited);

/*
 * Returns whether the port sends and receives with this GID, which is probably in entry `index`. Without `is_global`,
 * only the port's state counts.
 */
bool is_open(const struct port *port, uint32_t index, const union ibv_gid *gid, bool is_global);
void count_bytes(struct port *from, uint32_t gid_index, struct port *to, uint32_t length);

/* datagram.c: sends a datagram to every receiver that exists. */
void send_datagram(struct queue_pair *pair, const struct work *work, const struct span *ours);

#endif
