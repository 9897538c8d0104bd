/*
 * The fabric: one file mapped by every process that uses the stand-in for libibverbs. It contains everything that a
 * process must know of other processes' objects. The file is sparse, and unused parts cost address space only.
 *
 * Real adapters work at both ends without a process's help. To imitate this, the sending process also takes the
 * receiver's posted buffer, writes its memory (process_vm_writev), and puts the completion into the receiver's queue,
 * without the receiver's help. Receive queues, completion queues, queue pairs' states and memory regions are therefore
 * in the fabric. Send queues are not, because only their own process uses them.
 *
 * Locks, in locking order: engine (local), send queue (local), objects (local), pair, queue, process. The death of a
 * holder of a shared lock is detected.
 */
#ifndef STANDIN_FABRIC_H
#define STANDIN_FABRIC_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cm_interface.h"

enum {
  HOSTS = 8,
  DEVICES = 16, /* maximum number of the ports of all of a host's devices */
  GIDS = 16,    /* maximum number of a port's GIDs */
  PROCESSES = 64,
  REGIONS = 1 << 16,
  QUEUES = 1024,
  QUEUE_ENTRIES = 1 << 16,
  PAIRS = 4096,
  PAIR_ENTRIES = 1 << 14, /* capacity of a send or a receive queue */
  MAX_SGE = 4,
  MAX_INLINE = 1024,
  MESSAGES = 256, /* maximum number of unread messages to a process */
  REFUSALS = 8,
  MEMBERSHIPS = 256,     /* maximum number of queue pairs' memberships in multicast groups */
  GROUPS = 256,          /* maximum number of groups of an InfiniBand subnet */
  JOINS = 1024,          /* maximum number of joins of ports to multicast groups */
  PKEYS = 8,             /* maximum number of a port's partition keys */
  ADDRESSES = 256,       /* maximum number of IPoIB addresses */
  SERVICES = 1024,       /* maximum number of services with a listener */
  SUBNET_MESSAGES = 256, /* maximum number of messages in flight between communication managers */
  FIRST_GROUP_LID = 0xc000,
  LAST_GROUP_LID = 0xfffe,
  PERMANENT_JOIN = UINT32_MAX /* owner of the control program's joins, which are permanent */
};

/*
 * Spin lock between processes. It contains the number of the process that holds it (its slot + 1), so that waiters
 * detect a dead holder.
 */
typedef _Atomic uint32_t shared_lock;

struct shared_completion {
  struct ibv_wc wc;
  /* slot of the completion's pair, and the pair's epoch; a later reset or destruction changes the pair's epoch */
  uint32_t pair, epoch;
  uint32_t releases; /* entries of the send or receive queue that polling this completion frees */
  uint32_t receive;
};

struct shared_queue {
  shared_lock lock; /* held by a producer of completions */
  _Atomic uint32_t owner, epoch;
  uint32_t capacity;
  uint32_t host, device;
  _Atomic uint32_t armed; /* enum arm */
  _Atomic uint32_t overrun;
  _Alignas(64) _Atomic uint64_t tail; /* written by the holder of the lock */
  _Alignas(64) _Atomic uint64_t head; /* written by the owner */
};

enum arm { DISARMED, ARMED, ARMED_FOR_SOLICITED };

struct shared_receive {
  uint64_t wr_id;
  uint32_t num_sge;
  struct ibv_sge sge[MAX_SGE];
};

struct shared_pair {
  shared_lock lock;
  _Atomic uint32_t owner;
  _Atomic uint32_t epoch; /* number of resets */
  _Atomic uint32_t state; /* enum ibv_qp_state */
  uint32_t number, peer;
  uint32_t type;      /* enum ibv_qp_type */
  uint32_t queue_key; /* for datagrams */
  uint32_t partition_key;
  uint32_t host, device, gid_index;
  uint32_t send_queue, receive_queue;
  uint64_t domain;
  uint32_t access;
  uint32_t expected_psn;
  uint32_t mtu_bytes;
  uint32_t reads_granted; /* max_dest_rd_atomic */
  uint32_t rnr_timer;     /* code of min_rnr_timer */
  uint32_t receives;      /* capacity of the receive queue */
  bool established;       /* whether the first message has arrived */
  bool is_global;
  union ibv_gid gid, peer_gid;                /* the addresses that the pair was bound to */
  _Atomic uint32_t copying;                   /* the region that this pair's owner currently copies to or from, or 0 */
  _Alignas(64) _Atomic uint64_t receive_head; /* written by the holder of the lock */
  _Alignas(64) _Atomic uint64_t receive_tail; /* written by the owner */
};

struct shared_region {
  _Atomic uint32_t owner;
  _Atomic uint32_t key; /* 0 while the region is being changed or destroyed */
  _Atomic uint32_t generation;
  uint32_t access;
  uint64_t address, length, iova, domain;
};

struct shared_gid {
  union ibv_gid gid; /* a zero GID is an empty entry */
  bool cut;          /* whether packets from and to this address are dropped silently */
  _Atomic uint64_t sent_bytes;
};

/*
 * An injected fault of a verb or of work requests. The next `after` calls or requests succeed, and then `count` of them
 * fail with `code`.
 */
struct fault {
  int code;
  uint32_t after, count;
};

struct refusal {
  char verb[48];
  struct fault fault;
};

struct port {
  char name[IBV_SYSFS_NAME_MAX]; /* of its device */
  uint32_t card;                 /* number of the device's chip on this host; 0: it reports no sys_image_guid */
  uint32_t vendor;
  uint32_t speed_mbps;                          /* speed of the link that it reports; bits_per_second limits it */
  _Atomic uint32_t state;                       /* enum ibv_port_state */
  _Atomic uint32_t silent;                      /* whether the port drops everything silently */
  _Atomic uint64_t bits_per_second, latency_ns; /* 0: no limit of the rate, no latency */
  _Atomic uint64_t sending_until_ns, receiving_until_ns;
  _Atomic uint64_t sent_bytes, sent_messages, received_bytes, received_messages;
  shared_lock lock; /* guards gids and faults */
  struct shared_gid gids[GIDS];
  uint16_t partition_keys[PKEYS]; /* 0 is an empty entry */
  _Atomic uint32_t lid;           /* LID assigned later by the subnet manager, or 0 for the port's first LID */
  _Atomic uint32_t hops;          /* hops of paths to the port: more than 0 if there is a router in between */
  struct fault work;
  struct refusal refusals[REFUSALS];
};

struct shared_host {
  uint32_t devices;    /* number of the ports of all devices; 0 if not configured */
  uint32_t ports_each; /* number of each device's ports */
  uint32_t link_layer;
  struct port ports[DEVICES]; /* device by device; a `device` of this file and of others is an index in this array */
};

enum message_kind {
  MESSAGE_COMPLETION,
  MESSAGE_PORT_EVENT,
  MESSAGE_PAIR_EVENT,
  MESSAGE_QUEUE_EVENT,
  MESSAGE_FLUSH,
  MESSAGE_GROUPS_LOST,
  MESSAGE_SUBNET
};

/* A message to the stand-in library's thread in another process. */
struct message {
  uint32_t kind, event;
  uint32_t index, epoch; /* index and epoch of the queue or pair; for a port event, index of the port */
};

struct process {
  _Atomic uint32_t pid; /* 0: free */
  uint32_t host;
  /* start time in the kernel's ticks: distinguishes a process from a later one with the same pid */
  uint64_t started;
  _Atomic uint32_t bell; /* a futex, which counts messages to this process */
  shared_lock lock;
  _Atomic uint32_t lost_messages;
  _Atomic uint32_t message_head, message_tail;
  struct message messages[MESSAGES];
};

/* Membership of a queue pair in a multicast group; ignored if the queue pair no longer exists. */
struct membership {
  union ibv_gid group;
  uint32_t number; /* 0 if the entry is free */
  uint32_t lid;    /* LID of the group, on InfiniBand */
};

/*
 * A subnet manager's state: groups, whose LIDs follow from their indexes, and the ports that have joined them. Switches
 * deliver a group's packets to ports that have joined to receive, and accept them from ports that have joined to send
 * or to receive.
 */
struct subnet_group {
  union ibv_gid gid; /* zero: free */
};

struct subnet_join {
  uint32_t owner; /* the process that joined, or 0 if the entry is free */
  uint32_t group, host, device;
  uint32_t receives;
};

/* An IPoIB address and its port, for the life of the process that registered it. */
struct subnet_address {
  uint8_t address[16]; /* IPv4 mapped */
  uint32_t owner;      /* 0: free */
  uint32_t host, device, partition_key;
};

/* A service with a listener. */
struct subnet_service {
  uint8_t address[16];
  uint32_t owner; /* 0: free */
  uint32_t port;
};

struct fabric {
  _Atomic uint32_t magic;
  bool kept; /* whether the control program created the fabric, which then stays after its last process */
  _Atomic uint64_t domains, regions_hint, pairs_hint;
  shared_lock membership_lock;
  struct membership memberships[MEMBERSHIPS];
  struct subnet_group groups[GROUPS]; /* membership_lock guards groups and joins too */
  struct subnet_join joins[JOINS];
  shared_lock manager_lock; /* guards addresses, services and messages */
  struct subnet_address addresses[ADDRESSES];
  struct subnet_service services[SERVICES];
  struct subnet_message messages[SUBNET_MESSAGES];
  uint32_t lost_groups; /* number of groups lost in restarts of the subnet manager; new groups get later LIDs */
  struct shared_host hosts[HOSTS];
  struct process processes[PROCESSES];
  struct shared_region regions[REGIONS];
  struct shared_queue queues[QUEUES];
  struct shared_pair pairs[PAIRS];
  struct shared_completion completions[QUEUES][QUEUE_ENTRIES];
  struct shared_receive receives[PAIRS][PAIR_ENTRIES];
};

extern struct fabric *fabric;
extern uint32_t self;      /* this process's slot + 1 */
extern uint32_t this_host; /* the host that this process is on */

/* Maps the fabric and takes a slot in it, once. Returns 0, or an errno value after a line on stderr. */
int fabric_join(void);

/* Maps the fabric but takes no slot in it, for the control program. */
int fabric_open(const char *path, bool keep);
int fabric_remove(const char *path);
const char *fabric_path(void);

bool is_process_alive(uint32_t owner);
/* Returns the pair with this number, or the pair that a pair is connected to; NULL if it doesn't exist. */
struct shared_pair *pair_of_number(uint32_t number);
struct shared_pair *peer_of(const struct shared_pair *pair);
/* Frees the objects of processes that ended without closing. */
void fabric_reap(void);

void lock(shared_lock *lock);
void unlock(shared_lock *lock);

uint64_t now_ns(void);
static inline struct port *port_of(uint32_t host, uint32_t device) { return &fabric->hosts[host].ports[device]; }

static inline bool is_infiniband(uint32_t host) { return fabric->hosts[host].link_layer == IBV_LINK_LAYER_INFINIBAND; }
static inline uint32_t lid_of(uint32_t host, uint32_t device) {
  if (!is_infiniband(host)) return 0;
  uint32_t moved = atomic_load(&port_of(host, device)->lid);
  return moved == 0 ? host * DEVICES + device + 1 : moved;
}

/*
 * groups.c: joins a port to a group, and creates a new group if needed. Returns 0 and the group's LID, or an errno
 * value.
 */
int subnet_join(uint32_t owner, uint32_t host, uint32_t device, const union ibv_gid *group, bool receives,
                uint32_t *lid);
/* Removes one join of subnet_join. Returns false if there is none. */
bool subnet_leave(uint32_t owner, uint32_t host, uint32_t device, const union ibv_gid *group, bool receives);
/* Returns the group's LID, or 0 if no port has joined the group. The caller holds membership_lock. */
uint32_t subnet_lid(const union ibv_gid *group);
/* Returns whether the port has joined the group; if `receives` is set, whether it has joined to receive. */
bool subnet_has(uint32_t host, uint32_t device, const union ibv_gid *group, bool receives);
void subnet_forget(uint32_t owner);
/* Restarts the subnet manager: it forgets all joins, groups get other LIDs, and every process is notified. */
void subnet_restart(void);

/* Sends a message to the stand-in library's thread in process `owner`. */
void send_message(uint32_t owner, struct message message);
/* Sends the event of a port, or of the port's device, to every process of the host. */
void announce(uint32_t host, uint32_t device, enum ibv_event_type event);

#endif
