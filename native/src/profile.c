#include <stdlib.h>

#include "../include/heddle_profiler.h"
#include "shim.h"

/*
 * The callback's second argument. NCCL 2.26 treats all values except START as STOP, so the plugin sends no update
 * without an end.
 */
enum { EVENT_START = 0, EVENT_UPDATE_AND_STOP = 3 };

/*
 * An event of NCCL's profiler. open: started and not stopped; over: stopped, or ignored by the profiler. handle: the
 * profiler's handle for the event.
 */
struct event {
  void *handle;
  bool open;
  bool over;
  struct heddle_profiler_event data;
};

/* A message that a profiler follows. */
struct heddle_profile {
  struct heddle_profile *next; /* next message of the same communicator */
  struct heddle_request *request;
  void *parent;
  struct event message;
  struct event planes[HEDDLE_MAX_PLANES];
};

nccl_profiler heddle_profiler;

static void begin(struct event *event, void *parent) {
  event->open =
      heddle_profiler(&event->handle, EVENT_START, parent, HEDDLE_PROFILER_ID, &event->data) == NCCL_SUCCESS &&
      event->handle != NULL;
  event->over = !event->open;
}

static void end(struct event *event, uint64_t bytes, uint32_t chunks) {
  event->data.bytes = bytes;
  event->data.chunks = chunks;
  (void)heddle_profiler(&event->handle, EVENT_UPDATE_AND_STOP, NULL, HEDDLE_PROFILER_ID, &event->data);
  event->open = false;
  event->over = true;
}

/* Starts and ends the planes' events as the message progresses. ended: the message is finished or failed. */
static void update_events(struct heddle_profile *profile, bool ended) {
  struct heddle_plane_bytes planes[HEDDLE_MAX_PLANES];
  int count = heddle_planes_of(profile->request, planes);
  bool all_posted = count > 0 && planes[0].chunks_left == 0;
  uint64_t acknowledged = 0;
  for (int i = 0; i < count; i++) {
    struct event *event = &profile->planes[i];
    const struct heddle_plane_bytes *plane = &planes[i];
    acknowledged += (uint64_t)plane->bytes_acknowledged;
    if (!event->open && !event->over && plane->chunks_posted > 0) {
      event->data = (struct heddle_profiler_event){.kind = HEDDLE_PROFILER_PLANE,
                                                   .tag = profile->message.data.tag,
                                                   .plane = i,
                                                   .chunks = (uint32_t)plane->chunks_posted,
                                                   .bytes = (uint64_t)plane->bytes_posted,
                                                   .plane_name = plane->name};
      begin(event, profile->parent);
    }
    if (event->open && (ended || (all_posted && plane->chunks_posted == plane->chunks_acknowledged))) {
      end(event, (uint64_t)plane->bytes_acknowledged, (uint32_t)plane->chunks_acknowledged);
    }
  }
  if (ended) {
    for (int i = 0; i < HEDDLE_MAX_PLANES; i++) {
      if (profile->planes[i].open) { /* Java no longer knows the plane's figures */
        end(&profile->planes[i], 0, 0);
      }
    }
    end(&profile->message, acknowledged, 0);
  }
}

static void release_profile(struct heddle_profile *profile) {
  struct heddle_profile **link = &profile->request->comm->profiles;
  while (*link != profile) {
    link = &(*link)->next;
  }
  *link = profile->next;
  profile->request->profile = NULL;
  free(profile);
}

void heddle_profile_send(struct heddle_request *request, size_t size, int tag, void *parent) {
  struct event message = {.data = {.kind = HEDDLE_PROFILER_MESSAGE, .tag = tag, .plane = -1, .bytes = size}};
  begin(&message, parent);
  if (LIKELY(!message.open)) {
    return; /* NCCL has no profiler, or it ignores network events */
  }
  struct heddle_profile *profile = calloc(1, sizeof *profile);
  if (profile == NULL) {
    end(&message, 0, 0);
    return;
  }
  profile->request = request;
  profile->parent = parent;
  profile->message = message;
  profile->next = request->comm->profiles;
  request->comm->profiles = profile;
  request->profile = profile;
  update_events(profile, false);
}

void heddle_profile_tested(struct heddle_request *request, bool ended) {
  struct heddle_profile *profile = request->profile;
  update_events(profile, ended);
  if (ended) {
    release_profile(profile);
  }
}

void heddle_profile_closed(struct heddle_comm *comm) {
  while (comm->profiles != NULL) {
    heddle_profile_tested(comm->profiles->request, true);
  }
}
