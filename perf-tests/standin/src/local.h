/* This process's own objects, each of which begins with a struct of libibverbs. */
#ifndef STANDIN_LOCAL_H
#define STANDIN_LOCAL_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "fabric.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_query_port

enum { MAX_MESSAGE = 1u << 30, MAX_READS = 16, DATAGRAM_BYTES = 4096, LOCAL_ACK_DELAY = 15, GENERATION_BITS = 12 };

struct device {
  struct ibv_device device;
  const void *vendor_operations; /* vendor libraries of rdma-core read their operations at this offset */
  uint32_t index;
};

/*
 * Events for the caller, and a descriptor that is readable while there are events. Events of a destroyed object are
 * removed, so a caller that finds the descriptor readable can read without blocking.
 */
struct event_list {
  int file;
  pthread_mutex_t lock;
  struct message *messages;
  uint32_t count, room;
};

struct context {
  struct verbs_context verbs; /* the ibv_context that callers see is the end of this struct */
  uint32_t device;            /* index of the device's first port */
  struct event_list events;
  struct context *next;
};

struct domain {
  struct ibv_pd pd;
  uint64_t number; /* the domain's number on the fabric */
  _Atomic uint32_t users;
};

struct region {
  struct ibv_mr mr;
  uint32_t slot;
  char *mapping; /* mapping of a dma-buf; NULL for memory of the process */
  size_t mapped;
};

struct address_handle {
  struct ibv_ah ah;
  struct ibv_ah_attr path;
};

struct channel {
  struct ibv_comp_channel channel;
  struct event_list events;
};

struct completion_queue {
  struct ibv_cq cq;
  struct shared_queue *shared;
  struct shared_completion *entries;
  uint32_t slot, epoch;
  pthread_spinlock_t polling;
  _Atomic uint32_t users;
  uint32_t completion_events, async_events; /* numbers of events that were read; guarded by cq.mutex */
  struct instant_queue *instant;            /* NULL except under STANDIN_INSTANT */
};

/* An entry of a send queue. */
struct work {
  uint64_t wr_id, remote_address;
  /* times; 0 means at once in deliver_ns and complete_ns, and not set in give_up_ns */
  uint64_t deliver_ns, complete_ns, give_up_ns;
  uint32_t opcode, flags, imm_data, remote_key, length, num_sge;
  /* The next fields are for datagrams, for which remote_key is the queue key. */
  uint32_t remote_number, source_index;
  union ibv_gid destination;
  uint32_t destination_lid;
  uint8_t is_global, service_level, hop_limit, traffic_class;
  uint32_t not_ready; /* number of attempts without a posted buffer at the receiver */
  uint32_t status;
  struct ibv_sge sge[MAX_SGE];
};

struct queue_pair {
  struct ibv_qp qp;
  struct shared_pair *shared;
  struct shared_receive *receives;
  uint32_t slot;
  struct ibv_qp_attr attributes;
  struct ibv_qp_cap capacity;
  bool signals_all;
  pthread_mutex_t sending;
  pthread_spinlock_t receiving;
  /*
   * State of the send queue, guarded by `sending`. Requests in [completed, delivered) wait for their completion time.
   */
  struct work *work;
  uint8_t *inline_data; /* capacity.max_inline_data bytes for each entry */
  uint64_t posted, delivered, completed;
  uint32_t unreleased; /* requests that finished without a completion since the last completion */
  uint32_t next_psn;
  /* whether a work request has failed and its completion isn't due yet; later requests aren't delivered */
  bool failed;
  _Atomic uint64_t released, received; /* numbers of entries freed by polling */
  struct queue_pair *next_pending;
  bool pending;
  uint32_t async_events;            /* number of events that were read; guarded by qp.mutex */
  struct instant_receives *instant; /* NULL except under STANDIN_INSTANT */
};

/* tables and functions of objects.c */
extern struct queue_pair *local_pairs[PAIRS]; /* indexed by the pairs' slots in the fabric */
extern struct completion_queue *local_queues[QUEUES];
extern pthread_mutex_t objects; /* guards local_pairs, local_queues, contexts and their events */
extern struct context *contexts;
/* Returns 0, or the error that the control program injected. Sets errno to the error too. */
int refused(struct ibv_context *context, const char *verb);

static inline struct context *context_of(struct ibv_context *context) {
  return (struct context *)((char *)context - offsetof(struct verbs_context, context));
}
/* Returns the index of the device's first port. */
static inline uint32_t device_of(struct ibv_context *context) { return context_of(context)->device; }
static inline bool has_port(uint32_t number) { return number >= 1 && number <= fabric->hosts[this_host].ports_each; }
/* Returns the index of one of the device's ports. */
static inline uint32_t port_index(struct ibv_context *context, uint32_t number) {
  return device_of(context) + number - 1;
}

/* functions of completion.c */
void push_completion(struct shared_queue *queue, const struct shared_completion *completion, bool solicited);
int poll_queue(struct ibv_cq *cq, int count, struct ibv_wc *completions);
int arm_queue(struct ibv_cq *cq, int solicited_only);
void deliver_completion_event(const struct message *message);

/* functions of post.c */
int post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad);
int post_receive(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad);

/* functions of instant.c */
struct instant_queue *instant_queue_new(void);
struct instant_receives *instant_receives_new(void);
int instant_post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad);
int instant_post_receive(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad);
int instant_poll(struct ibv_cq *cq, int count, struct ibv_wc *completions);

/*
 * memory.c: returns whether a scatter-gather entry or a remote access is allowed. If so, sets `address` to the memory's
 * real address.
 */
bool region_allows(uint32_t key, uint64_t domain, uint64_t *address, uint64_t length, uint32_t access);
/* Like region_allows, but if the access is allowed, ibv_dereg_mr waits until the caller has cleared pair->copying. */
bool hold_region(struct shared_pair *pair, uint32_t key, uint64_t domain, uint64_t *address, uint64_t length,
                 uint32_t access);

/* function of datagram.c */
bool is_in_a_group(uint32_t number);

/* pace.c: returns the arrival time of work posted now, or 0 (at once) on a port without rate or latency. */
uint64_t arrival_ns(const struct shared_pair *pair, const struct work *work);
uint64_t rnr_wait_ns(uint32_t timer);
uint64_t ack_timeout_ns(uint32_t timeout);

/* variable and functions of engine.c */
extern _Atomic uint32_t pending_pairs;
int engine_start(void);
/* Executes the pair's due work requests. The caller holds pair->sending. Returns true if others will be due later. */
bool advance(struct queue_pair *pair);
void engine_later(struct queue_pair *pair);
void engine_progress(void);
void engine_forget(struct queue_pair *pair);

/* function of unsupported.c, as in rdma-core's driver.h */
const char *ibv_get_sysfs_path(void);

/* functions of event_list.c */
bool event_list_open(struct event_list *list);
void event_list_close(struct event_list *list);
void event_list_add(struct event_list *list, const struct message *message);
/* Takes the oldest event. Waits for one unless the descriptor is non-blocking. Returns 0, or -1 and errno. */
int event_list_take(struct event_list *list, struct message *message);
void event_list_forget(struct event_list *list, enum message_kind kind, uint32_t index, uint32_t epoch);

/* functions of events.c */
void await_acknowledged(pthread_mutex_t *mutex, pthread_cond_t *cond, const uint32_t *delivered,
                        const uint32_t *acknowledged);
void deliver_message(const struct message *message);

#endif
