/* What the double of librdmacm (rdma_cm.c, rdma_sidr.c), a library of its own, needs of the stand-in. */
#ifndef STANDIN_MANAGER_H
#define STANDIN_MANAGER_H

#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

enum { LETTER_BYTES = 180 };
enum letter_kind { LETTER_QUESTION, LETTER_ANSWER };

/* What communication managers of two processes say to each other: a request for a queue pair, or its reply. */
struct subnet_letter {
  uint32_t to, from; /* processes; to nobody: free */
  uint32_t kind;
  uint64_t asker, answerer; /* numbers of ids in their processes */
  uint8_t client[16], server[16];
  uint16_t client_port, server_port;
  uint32_t status, number, key; /* of an answer */
  uint8_t data[LETTER_BYTES];
};

/* datagram.c: the port of a context joins a group or leaves it, as subnet_join and subnet_leave have it. */
int standin_cm_join(struct ibv_context *context, const union ibv_gid *group, bool receives, uint32_t *lid);
bool standin_cm_leave(struct ibv_context *context, const union ibv_gid *group, bool receives);
/* 0, or what the control program wants this call of librdmacm's to fail with, in errno too. */
int standin_cm_refused(struct ibv_context *context, const char *call);

/* events.c: on the stand-in's thread, once the subnet's manager has forgotten all groups. */
typedef void (*standin_cm_listener)(void);
void standin_cm_when_lost(standin_cm_listener listener);
/* The same for each letter that comes. */
typedef void (*standin_cm_reader)(const struct subnet_letter *letter);
void standin_cm_when_told(standin_cm_reader reader);

/* subnet.c: this process says that a device of its host has an address of IPoIB. */
int standin_cm_own(uint32_t device, const uint8_t address[16], uint16_t partition);
/* How a context's port gets to an address in its partition: 0, EHOSTUNREACH where nobody has it, ETIMEDOUT where no manager
 * answers, EINVAL where that one knows no path. */
int standin_cm_path(struct ibv_context *context, const uint8_t address[16], uint16_t partition,
                    struct ibv_sa_path_rec *path);
/* 0, EADDRINUSE, or ENOMEM. */
int standin_cm_serve(const uint8_t address[16], uint16_t port);
void standin_cm_end_service(const uint8_t address[16], uint16_t port);
/* To whoever listens, or, of an answer, to whom it is for: 0; ENOENT where nobody is there, ENOBUFS. */
int standin_cm_send(const struct subnet_letter *letter);

#endif
