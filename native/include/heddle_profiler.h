/*
 * What Heddle tells NCCL's profiler of each message that it sends: for writers of profiler plugins.
 *
 * NCCL hands it on as an event of the kind ncclProfileNetPlugin whose netPlugin.id is HEDDLE_PROFILER_ID and whose
 * netPlugin.data points to a struct heddle_profiler_event, valid during the call. Its parent is NCCL's event of the step.
 * A first event covers the whole message. While it has a handle (startEvent set one), each plane that carries something of
 * the message gets an event of its own, from its first chunk's post to its last one's acknowledgement; both end with
 * recordEventState (ncclProfilerNetPluginUpdate, the same struct with what was acknowledged) and stopEvent.
 */
#ifndef HEDDLE_PROFILER_H
#define HEDDLE_PROFILER_H

#include <stdint.h>

/* Laid out as NCCL's own: the kind of network in the upper bits, the version of the struct in the lower 16. */
#define HEDDLE_PROFILER_NETWORK 0x4845
#define HEDDLE_PROFILER_VERSION 1
#define HEDDLE_PROFILER_ID ((int64_t)HEDDLE_PROFILER_NETWORK << 16 | HEDDLE_PROFILER_VERSION)

enum { HEDDLE_PROFILER_MESSAGE = 1, HEDDLE_PROFILER_PLANE = 2 };

struct heddle_profiler_event {
  uint32_t kind;
  int32_t tag;            /* NCCL's tag of the message */
  int32_t plane;          /* which of the connection's planes, from 0; -1 for a message */
  uint32_t chunks;        /* of a plane: posted so far when the event starts, acknowledged when it ends */
  uint64_t bytes;         /* likewise; of a message: its length, and what was acknowledged of it */
  const char *plane_name; /* the plane's key, such as "if:eth0"; NULL for a message */
};

#endif
