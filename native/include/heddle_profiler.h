/*
 * Events that Heddle reports to NCCL's profiler about each message that it sends; for authors of profiler plugins.
 *
 * NCCL passes them on as events of the kind ncclProfileNetPlugin whose netPlugin.id is HEDDLE_PROFILER_ID and whose
 * netPlugin.data points to a struct heddle_profiler_event. The struct is valid only during the call. The parent of each
 * event is NCCL's event for the network step. A message's first event covers the whole message. If the profiler's
 * startEvent returned a handle for this first event, each plane that carries chunks of the message gets its own event.
 * A plane's event lasts from the post of its first chunk to the acknowledgement of its last chunk. Both kinds of events
 * end with recordEventState (ncclProfilerNetPluginUpdate, the same struct with the acknowledged bytes) and stopEvent.
 */
#ifndef HEDDLE_PROFILER_H
#define HEDDLE_PROFILER_H

#include <stdint.h>

/* As in NCCL's own ids, the upper bits are the kind of network, and the lower 16 are the version of the struct. */
#define HEDDLE_PROFILER_NETWORK 0x4845
#define HEDDLE_PROFILER_VERSION 1
#define HEDDLE_PROFILER_ID ((int64_t)HEDDLE_PROFILER_NETWORK << 16 | HEDDLE_PROFILER_VERSION)

enum { HEDDLE_PROFILER_MESSAGE = 1, HEDDLE_PROFILER_PLANE = 2 };

struct heddle_profiler_event {
  uint32_t kind;
  int32_t tag;   /* NCCL's tag of the message */
  int32_t plane; /* number of the plane in the connection, from 0; -1 for a message */
  /* In a plane's event: number of chunks posted before the start; at the end, number of chunks acknowledged. */
  uint32_t chunks;
  /*
   * In a plane's event: bytes of these chunks. In a message's event: length of the message at the start, acknowledged
   * bytes at the end.
   */
  uint64_t bytes;
  const char *plane_name; /* the plane's key, such as "if:eth0"; NULL for a message */
};

#endif
