/* This process's tables of objects, and the errors injected into its verbs. */
#include <string.h>

#include "local.h"

struct queue_pair *local_pairs[PAIRS];
struct completion_queue *local_queues[QUEUES];
pthread_mutex_t objects = PTHREAD_MUTEX_INITIALIZER;
struct context *contexts;

int refused(struct ibv_context *context, const char *verb) {
  struct port *port = port_of(this_host, device_of(context));
  int error = 0;
  for (uint32_t i = 0; i < REFUSALS && error == 0; i++) {
    struct refusal *refusal = &port->refusals[i];
    if (refusal->fault.count == 0) continue;
    lock(&port->lock);
    if (refusal->fault.count != 0 && strcmp(refusal->verb, verb) == 0) {
      if (refusal->fault.after > 0) {
        refusal->fault.after--;
      } else {
        refusal->fault.count--;
        error = refusal->fault.code;
      }
    }
    unlock(&port->lock);
  }
  if (error != 0) errno = error;
  return error;
}
