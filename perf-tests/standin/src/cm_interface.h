/*
 * Functions that the stand-in for libibverbs provides to the stand-in for librdmacm (rdma_cm.c, rdma_sidr.c), a
 * separate library.
 */
#ifndef STANDIN_CM_INTERFACE_H
#define STANDIN_CM_INTERFACE_H

#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

enum { SUBNET_MESSAGE_BYTES = 180 };
enum subnet_message_kind { SUBNET_REQUEST, SUBNET_REPLY };

/*
 * A message between the communication managers of two processes: a client's request for the server's queue pair, or the
 * server's reply.
 */
struct subnet_message {
  uint32_t to, from; /* numbers of processes; a free entry has `to` 0 */
  uint32_t kind;
  uint64_t client_id, server_id; /* numbers of the two rdma_cm_ids, each unique in its process */
  uint8_t client[16], server[16];
  uint16_t client_port, server_port;
  uint32_t status, number, key; /* of a reply only; number and key: the queue pair's number and queue key */
  uint8_t data[SUBNET_MESSAGE_BYTES];
};

/* datagram.c: joins a context's port to a group, or removes it from the group, like subnet_join and subnet_leave. */
int standin_cm_join(struct ibv_context *context, const union ibv_gid *group, bool receives, uint32_t *lid);
bool standin_cm_leave(struct ibv_context *context, const union ibv_gid *group, bool receives);
/* Returns 0, or the error that the control program injected into this librdmacm call. Sets errno to the error too. */
int standin_cm_refused(struct ibv_context *context, const char *call);

/*
 * events.c: sets a callback. The stand-in library's thread calls it when the subnet manager restarts and forgets all
 * groups.
 */
typedef void (*standin_cm_listener)(void);
void standin_cm_when_lost(standin_cm_listener listener);
/* events.c: sets a callback, which the stand-in library's thread calls for each message to this process. */
typedef void (*standin_cm_reader)(const struct subnet_message *message);
void standin_cm_on_message(standin_cm_reader reader);

/* subnet.c: registers an IPoIB address of a device of this process's host. */
int standin_cm_register_address(uint32_t device, const uint8_t address[16], uint16_t partition);
/*
 * Finds a context's path to an address in its partition. Returns 0, EHOSTUNREACH if no device has the address,
 * ETIMEDOUT if no subnet manager answers, or EINVAL if the subnet manager knows no path.
 */
int standin_cm_path(struct ibv_context *context, const uint8_t address[16], uint16_t partition,
                    struct ibv_sa_path_rec *path);
/* Registers a service that listens on this address and port. Returns 0, EADDRINUSE, or ENOMEM. */
int standin_cm_serve(const uint8_t address[16], uint16_t port);
void standin_cm_end_service(const uint8_t address[16], uint16_t port);
/*
 * Sends a request to the listener, or a reply to the requester. Returns 0, ENOENT if there is no receiver, or ENOBUFS
 * if too many messages are in flight.
 */
int standin_cm_send(const struct subnet_message *message);

#endif
