/* What the double of librdmacm (rdma_cm.c), a library of its own, needs of the stand-in. */
#ifndef STANDIN_MANAGER_H
#define STANDIN_MANAGER_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

/* datagram.c: the port of a context joins a group or leaves it, as subnet_join and subnet_leave have it. */
int standin_cm_join(struct ibv_context *context, const union ibv_gid *group, bool receives, uint32_t *lid);
bool standin_cm_leave(struct ibv_context *context, const union ibv_gid *group, bool receives);
/* 0, or what the control program wants this call of librdmacm's to fail with, in errno too. */
int standin_cm_refused(struct ibv_context *context, const char *call);

/* events.c: on the stand-in's thread, once the subnet's manager has forgotten all groups. */
typedef void (*standin_cm_listener)(void);
void standin_cm_when_lost(standin_cm_listener listener);

#endif
