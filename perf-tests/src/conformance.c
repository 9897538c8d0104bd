#include "conformance.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rendezvous.h"

static int barriers, listens;

int is_sender(void) { return options.rank == SENDER; }

int barrier(void) {
  char name[32], byte = 1;
  snprintf(name, sizeof name, "meet%d", barriers++);
  progress();
  if (rendezvous_put(options.folder, name, options.rank, &byte, 1) != 0 ||
      rendezvous_get(options.folder, name, 1 - options.rank, &byte, 1, options.timeout_seconds) != 0) {
    fail_with(EXIT_TIMED_OUT, "the other rank did not come");
  }
  return barriers;
}

uint64_t next_random(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

unsigned char byte_at(uint64_t message, size_t position) {
  return (unsigned char)((position * 2654435761u + message * 40503u) >> 11);
}

/* ---- buffers with guards ---- */

struct buffer make_buffer(size_t size) {
  struct buffer buffer = {.size = size, .whole = malloc(size + 2 * GUARD)};
  WANT(buffer.whole != NULL, "no memory for %zu bytes", size);
  memset(buffer.whole, GUARD_BYTE, size + 2 * GUARD);
  buffer.data = buffer.whole + GUARD;
  return buffer;
}

void fill(struct buffer *buffer, uint64_t message, size_t size) {
  for (size_t i = 0; i < size; i++) buffer->data[i] = byte_at(message, i);
}

void check_buffer(const struct buffer *buffer, uint64_t message, size_t size) {
  for (size_t i = 0; i < size; i++) {
    WANT(buffer->data[i] == byte_at(message, i), "message %llu of %zu bytes is wrong at %zu",
         (unsigned long long)message, size, i);
  }
  for (size_t i = 0; i < GUARD; i++) {
    WANT(buffer->whole[i] == GUARD_BYTE, "written before the buffer of message %llu", (unsigned long long)message);
  }
  for (size_t i = size; i < buffer->size + GUARD; i++) {
    WANT(buffer->data[i] == GUARD_BYTE, "written %zu bytes behind message %llu", i - size, (unsigned long long)message);
  }
}

/* ---- connections ---- */

void *finish_connect(void *handle) {
  void *comm = NULL;
  double start = now_seconds();
  while (comm == NULL) {
    check(net_connect(&net, options.device, handle, &comm), "connect");
    WANT(now_seconds() - start < options.timeout_seconds, "connect does not finish");
    progress();
    usleep(50);
  }
  return comm;
}

void *finish_accept(void *listen_comm) {
  void *comm = NULL;
  double start = now_seconds();
  while (comm == NULL) {
    check(net_accept(&net, listen_comm, &comm), "accept");
    WANT(now_seconds() - start < options.timeout_seconds, "accept does not finish");
    progress();
    usleep(50);
  }
  return comm;
}

/*
 * Sorts the communicators by the number in their first message: connections to one listener are accepted in any order.
 */
static void put_in_order(void **comms, int count) {
  int *numbers = calloc((size_t)count, sizeof *numbers);
  void **sorted = calloc((size_t)count, sizeof *sorted), **requests = calloc((size_t)count, sizeof *requests);
  void **memory = calloc((size_t)count, sizeof *memory);
  WANT(numbers != NULL && sorted != NULL && requests != NULL && memory != NULL, "no memory");
  for (int i = 0; i < count; i++) {
    size_t size = sizeof numbers[i];
    void *data = &numbers[i];
    int tag = 0;
    if (is_sender()) numbers[i] = i;
    memory[i] = must_register(comms[i], data, size);
    requests[i] = is_sender() ? must_isend(comms[i], data, size, tag, memory[i])
                              : must_irecv(comms[i], 1, &data, &size, &tag, &memory[i]);
  }
  for (int i = 0; i < count; i++) {
    int got = 0;
    wait_done(requests[i], &got);
    check(net_deregister(&net, comms[i], memory[i]), "deregMr");
    WANT(numbers[i] >= 0 && numbers[i] < count && sorted[numbers[i]] == NULL, "connection %d comes twice", numbers[i]);
    sorted[numbers[i]] = comms[i];
  }
  memcpy(comms, sorted, (size_t)count * sizeof *sorted);
  free(memory);
  free(requests);
  free(sorted);
  free(numbers);
}

void connect_all(void **comms, int count) {
  char handle[NET_HANDLE_BYTES], name[32];
  snprintf(name, sizeof name, "handle%d", listens++);
  if (is_sender()) {
    if (rendezvous_get(options.folder, name, RECEIVER, handle, sizeof handle, options.timeout_seconds) != 0) exit(4);
    for (int i = 0; i < count; i++) {
      char fresh[NET_HANDLE_BYTES];
      memcpy(fresh, handle, sizeof fresh);
      comms[i] = finish_connect(fresh);
    }
  } else {
    void *listen_comm = NULL;
    check(net_listen(&net, options.device, handle, &listen_comm), "listen");
    if (rendezvous_put(options.folder, name, RECEIVER, handle, sizeof handle) != 0) exit(EXIT_BAD_USAGE);
    for (int i = 0; i < count; i++) comms[i] = finish_accept(listen_comm);
    check(net_close_listen(&net, listen_comm), "closeListen");
  }
  if (count > 1) put_in_order(comms, count);
}

void close_comm(void *comm) {
  check(is_sender() ? net_close_send(&net, comm) : net_close_receive(&net, comm), "close");
}

void *connect_one(void) {
  void *comm = NULL;
  connect_all(&comm, 1);
  return comm;
}

void *must_register(void *comm, void *data, size_t size) {
  void *memory = NULL;
  check(net_register(&net, comm, data, size, &memory), "regMr");
  WANT(memory != NULL, "regMr gave no handle");
  return memory;
}

/* ---- one message ---- */

void wait_done(void *request, int *sizes) {
  int done = 0;
  for (;;) {
    check(net_test(&net, request, &done, sizes), "test");
    if (done) break;
    sched_yield();
  }
  progress();
}

void *must_isend(void *comm, void *data, size_t size, int tag, void *memory) {
  void *request = NULL;
  while (request == NULL) check(net_isend(&net, comm, data, size, tag, memory, &request), "isend");
  return request;
}

void *must_irecv(void *comm, int n, void **data, size_t *sizes, int *tags, void **memory) {
  void *request = NULL;
  while (request == NULL) check(net_irecv(&net, comm, n, data, sizes, tags, memory, &request), "irecv");
  return request;
}

void one_message(void *comm, uint64_t message, size_t size, size_t capacity, int tag) {
  struct buffer buffer = make_buffer(capacity == 0 ? 1 : capacity);
  void *memory = must_register(comm, buffer.data, buffer.size);
  if (is_sender()) {
    fill(&buffer, message, size);
    int sent = -1;
    wait_done(must_isend(comm, buffer.data, size, tag, memory), &sent);
    WANT(sent == (int)size, "a send of %zu bytes is reported with %d", size, sent);
  } else {
    void *data = buffer.data;
    size_t posted = capacity;
    int got = -1;
    wait_done(must_irecv(comm, 1, &data, &posted, &tag, &memory), &got);
    WANT(got == (int)size, "a receive of a message of %zu bytes is reported with %d", size, got);
    check_buffer(&buffer, message, size);
  }
  check(net_deregister(&net, comm, memory), "deregMr");
  free(buffer.whole);
}

/* ---- random traffic ---- */

void random_traffic(void *comm, uint64_t seed, int messages, size_t largest, int most) {
  uint64_t random = seed;
  size_t *sizes = malloc((size_t)messages * sizeof *sizes);
  for (int i = 0; i < messages; i++) {
    uint64_t kind = next_random(&random) % 8;
    sizes[i] = kind == 0 ? 0 : next_random(&random) % (kind < 5 && largest > 5000 ? 5000 : largest);
  }
  uint64_t own = seed * 31 + (uint64_t)options.rank;
  struct buffer buffers[MOST];
  void *memory[MOST], *requests[MOST];
  int number[MOST];
  for (int i = 0; i < most; i++) {
    buffers[i] = make_buffer(largest + 64);
    memory[i] = must_register(comm, buffers[i].data, buffers[i].size);
    number[i] = -1;
  }
  int begun = 0, finished = 0;
  while (finished < messages) {
    int slot = (int)(next_random(&own) % (uint64_t)most);
    if (number[slot] < 0) {
      if (begun == messages) {
        /* no message is left to start: visit only slots in use */
        while (number[slot] < 0) slot = (slot + 1) % most;
      } else {
        size_t size = sizes[begun];
        void *request = NULL;
        if (is_sender()) {
          fill(&buffers[slot], (uint64_t)begun, size);
          check(net_isend(&net, comm, buffers[slot].data, size, begun, memory[slot], &request), "isend");
        } else {
          void *data = buffers[slot].data;
          size_t posted = size + 64;
          int tag = begun;
          memset(buffers[slot].data, GUARD_BYTE, size + 64);
          check(net_irecv(&net, comm, 1, &data, &posted, &tag, &memory[slot], &request), "irecv");
        }
        if (request != NULL) {
          requests[slot] = request;
          number[slot] = begun++;
        }
      }
    }
    if (number[slot] < 0) {
      /* the call would block: test a request in flight instead, because one must finish first */
      for (int i = 0; i < most && number[slot] < 0; i++) slot = (slot + 1) % most;
      if (number[slot] < 0) continue;
    }
    int done = 0, got = -1;
    check(net_test(&net, requests[slot], &done, &got), "test");
    if (done) {
      size_t size = sizes[number[slot]];
      WANT(got == (int)size, "message %d of %zu bytes is reported with %d", number[slot], size, got);
      if (!is_sender()) {
        for (size_t i = 0; i < size; i++) {
          WANT(buffers[slot].data[i] == byte_at((uint64_t)number[slot], i), "message %d of %zu bytes is wrong at %zu",
               number[slot], size, i);
        }
        for (size_t i = size; i < size + 64; i++) {
          WANT(buffers[slot].data[i] == GUARD_BYTE, "written behind message %d", number[slot]);
        }
      }
      number[slot] = -1;
      finished++;
      progress();
    }
  }
  for (int i = 0; i < most; i++) {
    check(net_deregister(&net, comm, memory[i]), "deregMr");
    free(buffers[i].whole);
  }
  free(sizes);
}
