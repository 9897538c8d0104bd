#include "habits.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rendezvous.h"

void load_plugin(void) {
  if (net_load(&net, options.plugin, options.abi, options.prefix) != 0) exit(EXIT_PLUGIN_ERROR);
  progress();
}

void barrier(void) {
  static int meetings;
  char name[32], byte = 1;
  snprintf(name, sizeof name, "meet%d", meetings++);
  progress();
  if (rendezvous_put(options.folder, name, options.rank, &byte, 1) != 0) exit(EXIT_BAD_USAGE);
  for (int peer = 0; peer < options.ranks; peer++) {
    if (rendezvous_get(options.folder, name, peer, &byte, 1, options.timeout_seconds) != 0) exit(EXIT_TIMED_OUT);
  }
  progress();
}

uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t z = a * 0x9e3779b97f4a7c15u + b;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* ---- links ---- */

/* Calls connect and accept alternately until both have finished: neither may wait for the other. */
static void finish_link(struct link *link, void *handle) {
  while (link->send == NULL || link->receive == NULL) {
    if (link->send == NULL) check(net_connect(&net, 0, handle, &link->send), "connect");
    if (link->receive == NULL) check(net_accept(&net, link->listen, &link->receive), "accept");
    usleep(50);
  }
  progress();
}

int open_links(struct link *links) {
  static int openings;
  char name[64];
  int count = 0, opening = openings++;
  for (int peer = 0; peer < options.ranks; peer++) {
    if (peer == options.rank) continue;
    char handle[NET_HANDLE_BYTES];
    links[count] = (struct link){.peer = peer};
    check(net_listen(&net, 0, handle, &links[count++].listen), "listen");
    snprintf(name, sizeof name, "handle%d.for%d", opening, peer);
    if (rendezvous_put(options.folder, name, options.rank, handle, sizeof handle) != 0) exit(EXIT_BAD_USAGE);
  }
  for (int i = 0; i < count; i++) {
    char handle[NET_HANDLE_BYTES];
    snprintf(name, sizeof name, "handle%d.for%d", opening, options.rank);
    if (rendezvous_get(options.folder, name, links[i].peer, handle, sizeof handle, options.timeout_seconds) != 0) {
      exit(EXIT_TIMED_OUT);
    }
    finish_link(&links[i], handle);
  }
  return count;
}

void close_link(struct link *link) {
  check(net_close_send(&net, link->send), "closeSend");
  check(net_close_receive(&net, link->receive), "closeRecv");
  check(net_close_listen(&net, link->listen), "closeListen");
}

/* ---- messages ---- */

uint64_t stream_of(int from, int to, int group) {
  return mixed(options.seed, (uint64_t)((group * HABITS_MOST_RANKS + from) * HABITS_MOST_RANKS + to));
}

size_t message_size(uint64_t stream, uint64_t message) {
  uint64_t drawn = mixed(stream, message), kind = drawn % 10, value = drawn >> 8;
  if (kind < 2) return 0;
  return 1 + (size_t)(value % (kind < 8 ? 4096 : options.max_bytes));
}

static unsigned char byte_of(uint64_t key, size_t at) { return (unsigned char)((at * 2654435761u + key) >> 11); }

void fill_message(unsigned char *data, size_t size, uint64_t stream, uint64_t message) {
  uint64_t key = mixed(stream, ~message);
  for (size_t i = 0; i < size; i++) data[i] = byte_of(key, i);
}

void check_message(const unsigned char *data, size_t size, uint64_t stream, uint64_t message) {
  uint64_t key = mixed(stream, ~message);
  for (size_t i = 0; i < size; i++) {
    WANT(data[i] == byte_of(key, i), "message %llu of %zu bytes is wrong at %zu", (unsigned long long)message, size, i);
  }
}

void *aligned_memory(size_t bytes) {
  void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (memory == NULL) fail_with(EXIT_BAD_USAGE, "no memory for %zu bytes", bytes);
  memset(memory, 0, bytes);
  return memory;
}

void *must_register(void *comm, void *data, size_t size) {
  void *memory = NULL;
  check(net_register(&net, comm, data, size, &memory), "regMr");
  return memory;
}

/* ---- traffic ---- */

enum {
  STEPS = 8,         /* maximum number of requests in flight in each direction, as in NCCL */
  EAGER_PASSES = 500 /* number of passes without progress after which a thread yields its core */
};

struct direction {
  unsigned char *data;
  void *memory, *requests[STEPS];
  uint64_t stream, posted, done;
};

static struct direction make_direction(void *comm, uint64_t stream) {
  struct direction direction = {.stream = stream, .data = aligned_memory(STEPS * options.max_bytes)};
  direction.memory = must_register(comm, direction.data, STEPS * options.max_bytes);
  return direction;
}

static void free_direction(struct direction *direction, void *comm) {
  check(net_deregister(&net, comm, direction->memory), "deregMr");
  free(direction->data);
}

static unsigned char *step_of(const struct direction *direction, uint64_t message) {
  return direction->data + message % STEPS * options.max_bytes;
}

/*
 * step_send and step_receive advance one direction: they post a request if there is room, and test the oldest request.
 */
static int step_send(struct direction *direction, void *comm, uint64_t messages) {
  if (direction->posted < messages && direction->posted - direction->done < STEPS) {
    size_t size = message_size(direction->stream, direction->posted);
    unsigned char *data = step_of(direction, direction->posted);
    void *request = NULL;
    fill_message(data, size, direction->stream, direction->posted);
    check(net_isend(&net, comm, data, size, (int)(direction->posted & 0xff), direction->memory, &request), "isend");
    if (request != NULL) direction->requests[direction->posted++ % STEPS] = request;
  }
  int done = 0;
  if (direction->done == direction->posted) return 0;
  check(net_test(&net, direction->requests[direction->done % STEPS], &done, NULL), "test");
  direction->done += (uint64_t)done;
  return done;
}

static int step_receive(struct direction *direction, void *comm, uint64_t messages) {
  if (direction->posted < messages && direction->posted - direction->done < STEPS) {
    void *data = step_of(direction, direction->posted), *request = NULL;
    size_t posted = options.max_bytes;
    int tag = (int)(direction->posted & 0xff);
    check(net_irecv(&net, comm, 1, &data, &posted, &tag, &direction->memory, &request), "irecv");
    if (request != NULL) direction->requests[direction->posted++ % STEPS] = request;
  }
  int done = 0, got = -1;
  if (direction->done == direction->posted) return 0;
  check(net_test(&net, direction->requests[direction->done % STEPS], &done, &got), "test");
  if (!done) return 0;
  size_t size = message_size(direction->stream, direction->done);
  WANT(got == (int)size, "message %llu of %zu bytes is reported with %d", (unsigned long long)direction->done, size,
       got);
  check_message(step_of(direction, direction->done), size, direction->stream, direction->done);
  direction->done++;
  return 1;
}

void exchange(struct link *links, int count, int group, int messages) {
  struct direction sends[HABITS_MOST_RANKS], receives[HABITS_MOST_RANKS];
  for (int i = 0; i < count; i++) {
    sends[i] = make_direction(links[i].send, stream_of(options.rank, links[i].peer, group));
    receives[i] = make_direction(links[i].receive, stream_of(links[i].peer, options.rank, group));
  }
  for (int open = count, idle = 0; open > 0;) {
    int moved = 0;
    open = 0;
    for (int i = 0; i < count; i++) {
      moved |= step_receive(&receives[i], links[i].receive, (uint64_t)messages);
      moved |= step_send(&sends[i], links[i].send, (uint64_t)messages);
      open += sends[i].done < (uint64_t)messages || receives[i].done < (uint64_t)messages;
    }
    if (moved) progress();
    idle = moved ? 0 : idle + 1;
    if (idle > EAGER_PASSES)
      usleep(50);
    else if (idle > 0)
      sched_yield();
  }
  for (int i = 0; i < count; i++) {
    free_direction(&sends[i], links[i].send);
    free_direction(&receives[i], links[i].receive);
  }
}
