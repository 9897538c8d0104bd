/* Declarations that the source files of the stand-in for librdmacm share. */
#ifndef STANDIN_RDMA_CM_H
#define STANDIN_RDMA_CM_H

#include <rdma/rdma_cma.h>

#include "cm_interface.h"

enum { ADDRESS_BYTES = 28 };

struct member {
  struct sockaddr_storage address;
  union ibv_gid group;
  bool receives;
  void *context;
  struct member *next;
};

struct manager_id {
  struct rdma_cm_id id;
  struct member *members;
  struct manager_id *next;
  uint64_t number; /* the id's number, unique in the process */
  /* Address and port of a listener. */
  uint8_t address[16];
  uint16_t port;
  /* The request that created this id at the server. */
  struct subnet_message request;
};

struct queued {
  struct rdma_cm_event event;
  uint8_t data[SUBNET_MESSAGE_BYTES];
  struct queued *next;
};

struct manager_channel {
  struct rdma_event_channel channel;
  struct queued *first, **last;
};

/* rdma_cm.c: takes the lock of ids, their members and channels' events. */
void cm_lock(void);
void cm_unlock(void);
/* Returns the list of all ids. The caller of this and the next three functions holds the lock. */
struct manager_id *cm_ids(void);
/* Numbers a new id and adds it to the list. */
void cm_enter(struct manager_id *id);
int cm_post_event(struct rdma_cm_id *id, struct rdma_cm_event event);
int cm_post_event_with(struct rdma_cm_id *id, struct rdma_cm_event event, const uint8_t *data, size_t bytes);

/* Sets errno and returns -1. */
int cm_fail(int error);
/* Converts an address to 16 bytes, with IPv4 in mapped form. Returns false for any other family. */
bool cm_address(const struct sockaddr *address, uint8_t to[16]);

/* rdma_sidr.c: handles a message from another process. Called on the thread of the stand-in for libibverbs. */
void sidr_read(const struct subnet_message *letter);

#endif
