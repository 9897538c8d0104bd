/*
 * What NCCL may do with a net plugin, done by two processes: rank 0 sends, rank 1 receives. Both run the same list of cases
 * with the same seed; each case has communicators of its own. Output is TAP, one line a case.
 */
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net_plugin.h"
#include "rendezvous.h"
#include "report.h"

#define GUARD 256
#define GUARD_BYTE 0x5a
#define MOST 256 /* requests under way in a communicator */
#define SENDER 0
#define RECEIVER 1

static struct {
  const char *plugin, *folder, *only;
  int rank, abi, device;
  uint64_t seed;
  size_t big_bytes;
  double timeout_seconds;
  int log;
} options = {.rank = -1, .seed = 1, .timeout_seconds = 60};

static struct net_plugin net;
static int max_receives;
static int barriers, listens;

#define WANT(condition, format, ...) \
  do { \
    if (!(condition)) \
      fail_with(EXIT_WRONG_DATA, "rank %d, seed %llu: " format, options.rank, (unsigned long long)options.seed, \
                ##__VA_ARGS__); \
  } while (0)

static int is_sender(void) { return options.rank == SENDER; }

static void meet(void) {
  char name[32], byte = 1;
  snprintf(name, sizeof name, "meet%d", barriers++);
  progress();
  if (rendezvous_put(options.folder, name, options.rank, &byte, 1) != 0 ||
      rendezvous_get(options.folder, name, 1 - options.rank, &byte, 1, options.timeout_seconds) != 0) {
    fail_with(EXIT_TIMED_OUT, "the other rank did not come");
  }
}

static uint64_t next_random(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static unsigned char byte_at(uint64_t message, size_t position) {
  return (unsigned char)((position * 2654435761u + message * 40503u) >> 11);
}

/* ---- buffers with guards ---- */

struct buffer {
  unsigned char *whole, *data;
  size_t size;
};

static struct buffer make_buffer(size_t size) {
  struct buffer buffer = {.size = size, .whole = malloc(size + 2 * GUARD)};
  WANT(buffer.whole != NULL, "no memory for %zu bytes", size);
  memset(buffer.whole, GUARD_BYTE, size + 2 * GUARD);
  buffer.data = buffer.whole + GUARD;
  return buffer;
}

static void fill(struct buffer *buffer, uint64_t message, size_t size) {
  for (size_t i = 0; i < size; i++) buffer->data[i] = byte_at(message, i);
}

/* `size` bytes of a message, and guard bytes all round and behind them. */
static void check_buffer(const struct buffer *buffer, uint64_t message, size_t size) {
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

static void *finish_connect(void *handle) {
  void *comm = NULL;
  double start = now_seconds();
  while (comm == NULL) {
    check(net_connect(&net, options.device, handle, &comm), "connect");
    WANT(now_seconds() - start < options.timeout_seconds, "connect does not end");
    progress();
    usleep(50);
  }
  return comm;
}

static void *finish_accept(void *listen_comm) {
  void *comm = NULL;
  double start = now_seconds();
  while (comm == NULL) {
    check(net_accept(&net, listen_comm, &comm), "accept");
    WANT(now_seconds() - start < options.timeout_seconds, "accept does not end");
    progress();
    usleep(50);
  }
  return comm;
}

/* Connects `count` communicators through one listener; on the sender they are send, on the receiver receive comms. */
static void connect_all(void **comms, int count) {
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
}

static void close_comm(void *comm) {
  check(is_sender() ? net_close_send(&net, comm) : net_close_receive(&net, comm), "close");
}

static void *connect_one(void) {
  void *comm = NULL;
  connect_all(&comm, 1);
  return comm;
}

static void *must_register(void *comm, void *data, size_t size) {
  void *memory = NULL;
  check(net_register(&net, comm, data, size, &memory), "regMr");
  WANT(memory != NULL, "regMr gave no handle");
  return memory;
}

/* ---- one message ---- */

static void wait_done(void *request, int *sizes) {
  int done = 0;
  for (;;) {
    check(net_test(&net, request, &done, sizes), "test");
    if (done) break;
    sched_yield();
  }
  progress();
}

static void *must_isend(void *comm, void *data, size_t size, int tag, void *memory) {
  void *request = NULL;
  while (request == NULL) check(net_isend(&net, comm, data, size, tag, memory, &request), "isend");
  return request;
}

static void *must_irecv(void *comm, int n, void **data, size_t *sizes, int *tags, void **memory) {
  void *request = NULL;
  while (request == NULL) check(net_irecv(&net, comm, n, data, sizes, tags, memory, &request), "irecv");
  return request;
}

/* Sends or receives one message; a receive is posted with `capacity` bytes. */
static void one_message(void *comm, uint64_t message, size_t size, size_t capacity, int tag) {
  struct buffer buffer = make_buffer(capacity == 0 ? 1 : capacity);
  void *memory = must_register(comm, buffer.data, buffer.size);
  if (is_sender()) {
    fill(&buffer, message, size);
    int sent = -1;
    wait_done(must_isend(comm, buffer.data, size, tag, memory), &sent);
    WANT(sent == (int)size, "a send of %zu bytes says %d", size, sent);
  } else {
    void *data = buffer.data;
    size_t posted = capacity;
    int got = -1;
    wait_done(must_irecv(comm, 1, &data, &posted, &tag, &memory), &got);
    WANT(got == (int)size, "a receive of a message of %zu bytes says %d", size, got);
    check_buffer(&buffer, message, size);
  }
  check(net_deregister(&net, comm, memory), "deregMr");
  free(buffer.whole);
}

/* ---- cases ---- */

static void sizes_of_every_kind(void) {
  static const size_t sizes[] = {0, 1, 4, 127, 128, 129, 4095, 4096, 4097, 8192, 61439, 61440, 61441, 65536,
                                 122880, 130000, 262144, 1000003, 1048576, 4194304 + 5, 16777216};
  void *comm = connect_one();
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) one_message(comm, i, sizes[i], sizes[i], (int)i);
  meet();
  close_comm(comm);
}

static void receives_larger_than_sends(void) {
  void *comm = connect_one();
  for (uint64_t i = 0; i < 40; i++) {
    size_t size = i * i * 37;
    one_message(comm, i, size, size + 1 + i * 1000, 3);
  }
  meet();
  close_comm(comm);
}

static void groups_with_tags_in_any_order(void) {
  uint64_t random = options.seed;
  void *comm = connect_one();
  for (int round = 0; round < 60; round++) {
    int n = 1 + round % max_receives;
    int order[NET_MAX_RECEIVES], tags[NET_MAX_RECEIVES], got[NET_MAX_RECEIVES];
    size_t sizes[NET_MAX_RECEIVES], posted[NET_MAX_RECEIVES];
    struct buffer buffers[NET_MAX_RECEIVES];
    void *data[NET_MAX_RECEIVES], *memory[NET_MAX_RECEIVES], *requests[NET_MAX_RECEIVES];
    for (int i = 0; i < n; i++) {
      sizes[i] = next_random(&random) % 4 == 0 ? 0 : next_random(&random) % 150000;
      posted[i] = sizes[i] + next_random(&random) % 100;
      tags[i] = (int)(next_random(&random) % 1000) * 10 + i;
      order[i] = i;
    }
    for (int i = n - 1; i > 0; i--) {
      int j = (int)(next_random(&random) % (uint64_t)(i + 1)), swap = order[i];
      order[i] = order[j];
      order[j] = swap;
    }
    for (int i = 0; i < n; i++) {
      buffers[i] = make_buffer(posted[i] + 1);
      data[i] = buffers[i].data;
      memory[i] = must_register(comm, data[i], buffers[i].size);
    }
    uint64_t base = (uint64_t)round * 100;
    if (is_sender()) {
      for (int k = 0; k < n; k++) {
        int i = order[k];
        fill(&buffers[i], base + (uint64_t)i, sizes[i]);
        requests[k] = must_isend(comm, data[i], sizes[i], tags[i], memory[i]);
      }
      for (int k = n - 1; k >= 0; k--) wait_done(requests[k], NULL);
    } else {
      wait_done(must_irecv(comm, n, data, posted, tags, memory), got);
      for (int i = 0; i < n; i++) {
        WANT(got[i] == (int)sizes[i], "receive %d of a group says %d instead of %zu", i, got[i], sizes[i]);
        check_buffer(&buffers[i], base + (uint64_t)i, sizes[i]);
      }
    }
    for (int i = 0; i < n; i++) {
      check(net_deregister(&net, comm, memory[i]), "deregMr");
      free(buffers[i].whole);
    }
  }
  meet();
  close_comm(comm);
}

static void equal_tags_in_a_group_match_in_order(void) {
  void *comm = connect_one();
  int n = max_receives < 4 ? max_receives : 4;
  struct buffer buffer = make_buffer(4 * 1000);
  void *memory = must_register(comm, buffer.data, buffer.size);
  if (is_sender()) {
    void *requests[4];
    for (int i = 0; i < n; i++) {
      for (int b = 0; b < 500 + i; b++) buffer.data[i * 1000 + b] = byte_at((uint64_t)i, (size_t)b);
      requests[i] = must_isend(comm, buffer.data + i * 1000, 500 + (size_t)i, 9, memory);
    }
    for (int i = 0; i < n; i++) wait_done(requests[i], NULL);
  } else {
    void *data[4], *memories[4];
    size_t sizes[4];
    int tags[4], got[4];
    for (int i = 0; i < n; i++) {
      data[i] = buffer.data + i * 1000;
      memories[i] = memory;
      sizes[i] = 1000;
      tags[i] = 9;
    }
    wait_done(must_irecv(comm, n, data, sizes, tags, memories), got);
    for (int i = 0; i < n; i++) {
      WANT(got[i] == 500 + i, "the first unused receive of a tag is the one: %d says %d", i, got[i]);
      for (int b = 0; b < got[i]; b++) {
        WANT(buffer.data[i * 1000 + b] == byte_at((uint64_t)i, (size_t)b), "wrong byte in receive %d", i);
      }
    }
  }
  check(net_deregister(&net, comm, memory), "deregMr");
  free(buffer.whole);
  meet();
  close_comm(comm);
}

/*
 * Messages of random sizes with random numbers of requests under way at either end, tested in random order. `messages` are
 * numbered; both ends draw the sizes from the same seed.
 */
static void random_traffic(void *comm, uint64_t seed, int messages, size_t largest, int most) {
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
        /* the last ones: look at the slots that are in use */
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
      /* would block: something under way must move first */
      for (int i = 0; i < most && number[slot] < 0; i++) slot = (slot + 1) % most;
      if (number[slot] < 0) continue;
    }
    int done = 0, got = -1;
    check(net_test(&net, requests[slot], &done, &got), "test");
    if (done) {
      size_t size = sizes[number[slot]];
      WANT(got == (int)size, "message %d of %zu bytes says %d", number[slot], size, got);
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

static void random_sizes_and_orders(void) {
  void *comm = connect_one();
  random_traffic(comm, options.seed, 1500, 200000, 16);
  meet();
  close_comm(comm);
}

static void two_hundred_and_fifty_six_under_way(void) {
  void *comm = connect_one();
  random_traffic(comm, options.seed + 1, 2500, 3000, MOST);
  meet();
  close_comm(comm);
}

static void slots_and_generations_wrap(void) {
  void *comm = connect_one();
  random_traffic(comm, options.seed + 2, 256 * 16 * 3, 2000, 32);
  meet();
  close_comm(comm);
}

static void a_full_communicator_would_block(void) {
  void *comm = connect_one();
  static unsigned char bytes[1024];
  void *memory = must_register(comm, bytes, sizeof bytes);
  void *requests[1024], *data = bytes;
  size_t size = 1;
  int tag = 1, count = 0;
  if (is_sender()) {
    meet();
    for (int i = 0; i < 1; i++) {
      char name[32];
      int posted = 0;
      snprintf(name, sizeof name, "count%d", barriers);
      if (rendezvous_get(options.folder, name, RECEIVER, &posted, sizeof posted, options.timeout_seconds) != 0) exit(4);
      for (int k = 0; k < posted; k++) wait_done(must_isend(comm, bytes, 1, tag, memory), NULL);
      void *request = (void *)1;
      check(net_isend(&net, comm, bytes, 1, tag, memory, &request), "isend");
      WANT(max_receives == 1 || request == NULL, "a send without a receive did not block");
    }
  } else {
    for (;;) {
      void *request = NULL;
      check(net_irecv(&net, comm, 1, &data, &size, &tag, &memory, &request), "irecv");
      if (request == NULL || count == 1024) break;
      requests[count++] = request;
    }
    WANT(count >= 32 && count <= 512, "%d receives were taken before one would block", count);
    meet();
    char name[32];
    snprintf(name, sizeof name, "count%d", barriers);
    if (rendezvous_put(options.folder, name, RECEIVER, &count, sizeof count) != 0) exit(EXIT_BAD_USAGE);
    for (int i = 0; i < count; i++) wait_done(requests[i], NULL);
  }
  meet();
  close_comm(comm);
}

static void many_communicators_in_turn(void) {
  enum { COMMS = 24 };
  void *comms[COMMS];
  connect_all(comms, COMMS);
  for (uint64_t round = 0; round < 6; round++) {
    for (int i = 0; i < COMMS; i++) one_message(comms[i], round * COMMS + (uint64_t)i, (size_t)(i * 7001), 200000, i);
  }
  meet();
  for (int i = 0; i < COMMS; i++) close_comm(comms[i]);
}

static void *traffic_thread(void *comm) {
  random_traffic(comm, options.seed + 3, 600, 100000, 8);
  return NULL;
}

static void two_threads_with_a_communicator_each(void) {
  void *comms[2];
  pthread_t threads[2];
  connect_all(comms, 2);
  for (int i = 0; i < 2; i++) WANT(pthread_create(&threads[i], NULL, traffic_thread, comms[i]) == 0, "no thread");
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  meet();
  for (int i = 0; i < 2; i++) close_comm(comms[i]);
}

static atomic_int registering;

static void *register_thread(void *comm) {
  struct buffer buffer = make_buffer(1 << 20);
  while (atomic_load(&registering)) {
    void *whole = must_register(comm, buffer.data, buffer.size);
    void *part = must_register(comm, buffer.data + 4096, 10000);
    check(net_deregister(&net, comm, whole), "deregMr");
    check(net_deregister(&net, comm, part), "deregMr");
    usleep(100);
  }
  free(buffer.whole);
  return NULL;
}

static void registration_during_traffic(void) {
  void *comm = connect_one();
  pthread_t thread;
  atomic_store(&registering, 1);
  WANT(pthread_create(&thread, NULL, register_thread, comm) == 0, "no thread");
  random_traffic(comm, options.seed + 4, 800, 100000, 8);
  atomic_store(&registering, 0);
  pthread_join(thread, NULL);
  meet();
  close_comm(comm);
}

static void parts_of_a_registered_range(void) {
  void *comm = connect_one();
  struct buffer buffer = make_buffer(1 << 20);
  void *whole = must_register(comm, buffer.data, buffer.size);
  for (int i = 0; i < 50; i++) {
    unsigned char *part = buffer.data + i * 20000;
    void *memory = must_register(comm, part, 20000);
    if (is_sender()) {
      for (size_t b = 0; b < 20000; b++) part[b] = byte_at((uint64_t)i, b);
      wait_done(must_isend(comm, part, 20000, i, memory), NULL);
    } else {
      void *data = part;
      size_t size = 20000;
      int tag = i;
      wait_done(must_irecv(comm, 1, &data, &size, &tag, &memory), NULL);
      for (size_t b = 0; b < 20000; b++) WANT(part[b] == byte_at((uint64_t)i, b), "part %d is wrong at %zu", i, b);
    }
    check(net_deregister(&net, comm, memory), "deregMr");
  }
  check(net_deregister(&net, comm, whole), "deregMr");
  free(buffer.whole);
  meet();
  close_comm(comm);
}

static void connect_ends_before_accept_begins(void) {
  char handle[NET_HANDLE_BYTES];
  void *comm, *listen_comm = NULL;
  if (is_sender()) {
    if (rendezvous_get(options.folder, "early", RECEIVER, handle, sizeof handle, options.timeout_seconds) != 0) exit(4);
    comm = finish_connect(handle);
    meet();
  } else {
    check(net_listen(&net, options.device, handle, &listen_comm), "listen");
    if (rendezvous_put(options.folder, "early", RECEIVER, handle, sizeof handle) != 0) exit(EXIT_BAD_USAGE);
    meet();
    comm = finish_accept(listen_comm);
    check(net_close_listen(&net, listen_comm), "closeListen");
  }
  one_message(comm, 1, 100000, 100000, 1);
  meet();
  close_comm(comm);
}

static void accept_is_asked_long_before_connect(void) {
  char handle[NET_HANDLE_BYTES];
  void *comm = NULL, *listen_comm = NULL;
  if (is_sender()) {
    if (rendezvous_get(options.folder, "late", RECEIVER, handle, sizeof handle, options.timeout_seconds) != 0) exit(4);
    meet();
    comm = finish_connect(handle);
  } else {
    check(net_listen(&net, options.device, handle, &listen_comm), "listen");
    for (int i = 0; i < 20000; i++) check(net_accept(&net, listen_comm, &comm), "accept");
    WANT(comm == NULL, "accepted nobody");
    if (rendezvous_put(options.folder, "late", RECEIVER, handle, sizeof handle) != 0) exit(EXIT_BAD_USAGE);
    meet();
    comm = finish_accept(listen_comm);
    check(net_close_listen(&net, listen_comm), "closeListen");
  }
  one_message(comm, 2, 5000, 5000, 1);
  meet();
  close_comm(comm);
}

static void a_listener_without_guests_is_closed(void) {
  for (int i = 0; i < 20; i++) {
    char handle[NET_HANDLE_BYTES];
    void *listen_comm = NULL;
    check(net_listen(&net, options.device, handle, &listen_comm), "listen");
    check(net_close_listen(&net, listen_comm), "closeListen");
  }
  meet();
}

static void close_with_requests_in_flight(void) {
  for (int round = 0; round < 4; round++) {
    void *comm = connect_one();
    static unsigned char bytes[1 << 20];
    void *memory = must_register(comm, bytes, sizeof bytes);
    for (int i = 0; i < 10; i++) {
      void *request = NULL, *data = bytes;
      size_t size = sizeof bytes;
      int tag = 1;
      int result = is_sender() ? net_isend(&net, comm, bytes, sizeof bytes, tag, memory, &request)
                               : net_irecv(&net, comm, 1, &data, &size, &tag, &memory, &request);
      /* The other end may be closed already. */
      WANT(result == 0 || result == 6, "request %d of a connection that is being closed: result %d", i, result);
    }
    if (round % 2 == 1) meet();
    close_comm(comm);
    meet();
  }
}

static void a_send_larger_than_its_receive_is_an_error(void) {
  void *comm = connect_one();
  struct buffer buffer = make_buffer(4096);
  void *memory = must_register(comm, buffer.data, buffer.size);
  if (is_sender()) {
    void *request = NULL;
    int result = 0;
    double start = now_seconds();
    while (request == NULL && result == 0 && now_seconds() - start < options.timeout_seconds) {
      result = net_isend(&net, comm, buffer.data, 4096, 1, memory, &request);
    }
    WANT(result == 5 || max_receives == 1, "a send of 4096 bytes into 100 returned %d", result);
    meet();
  } else {
    void *data = buffer.data, *request = NULL;
    size_t size = 100;
    int tag = 1;
    request = must_irecv(comm, 1, &data, &size, &tag, &memory);
    int done = 0, result = 0;
    if (max_receives > 1) {
      /* The sender's failure may be told to this end, or not before it closes. */
      for (int i = 0; i < 1000 && result == 0; i++) result = net_test(&net, request, &done, NULL);
      WANT(result == 0 || result == 6, "the receive of 100 bytes returned %d", result);
      WANT(!done, "a receive of 100 bytes was done by a send of 4096");
    }
    meet();
    check_buffer(&(struct buffer){buffer.whole, buffer.data, buffer.size}, 0, 0);
  }
  close_comm(comm);
  free(buffer.whole);
  meet();
}

static void one_big_message(void) {
  void *comm = connect_one();
  one_message(comm, 3, options.big_bytes, options.big_bytes, 1);
  meet();
  close_comm(comm);
}

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
    {"sizes_of_every_kind", sizes_of_every_kind},
    {"receives_larger_than_sends", receives_larger_than_sends},
    {"groups_with_tags_in_any_order", groups_with_tags_in_any_order},
    {"equal_tags_in_a_group_match_in_order", equal_tags_in_a_group_match_in_order},
    {"random_sizes_and_orders", random_sizes_and_orders},
    {"two_hundred_and_fifty_six_under_way", two_hundred_and_fifty_six_under_way},
    {"slots_and_generations_wrap", slots_and_generations_wrap},
    {"a_full_communicator_would_block", a_full_communicator_would_block},
    {"many_communicators_in_turn", many_communicators_in_turn},
    {"two_threads_with_a_communicator_each", two_threads_with_a_communicator_each},
    {"registration_during_traffic", registration_during_traffic},
    {"parts_of_a_registered_range", parts_of_a_registered_range},
    {"connect_ends_before_accept_begins", connect_ends_before_accept_begins},
    {"accept_is_asked_long_before_connect", accept_is_asked_long_before_connect},
    {"a_listener_without_guests_is_closed", a_listener_without_guests_is_closed},
    {"close_with_requests_in_flight", close_with_requests_in_flight},
    {"a_send_larger_than_its_receive_is_an_error", a_send_larger_than_its_receive_is_an_error},
    {"one_big_message", one_big_message},
};

static void usage(FILE *to) {
  fprintf(to,
          "heddle-conformance: what NCCL may do with an ncclNet plugin, in two processes (rank 0 sends, 1 receives)\n"
          "  --plugin FILE --rendezvous FOLDER --rank 0|1   needed\n"
          "  --case NAME        only this case; --list names them\n"
          "  --seed S           of the random cases (1)\n"
          "  --big-bytes B      also one message of this size\n"
          "  --timeout-seconds S  (60)    --abi V  (newest)    --device D  (0)    --verbose\n");
}

int main(int argc, char **argv) {
  enum { PLUGIN = 1, FOLDER, RANK, CASE, LIST, SEED, BIG, TIMEOUT, ABI, DEVICE, VERBOSE, HELP };
  static const struct option longs[] = {
      {"plugin", required_argument, NULL, PLUGIN}, {"rendezvous", required_argument, NULL, FOLDER},
      {"rank", required_argument, NULL, RANK},     {"case", required_argument, NULL, CASE},
      {"list", no_argument, NULL, LIST},           {"seed", required_argument, NULL, SEED},
      {"big-bytes", required_argument, NULL, BIG}, {"timeout-seconds", required_argument, NULL, TIMEOUT},
      {"abi", required_argument, NULL, ABI},       {"device", required_argument, NULL, DEVICE},
      {"verbose", no_argument, NULL, VERBOSE},     {"help", no_argument, NULL, HELP},
      {NULL, 0, NULL, 0}};
  const int count = (int)(sizeof cases / sizeof *cases);
  int found;
  while ((found = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
    switch (found) {
      case PLUGIN: options.plugin = optarg; break;
      case FOLDER: options.folder = optarg; break;
      case RANK: options.rank = (int)whole_number("--rank", optarg, 0, 1); break;
      case CASE: options.only = optarg; break;
      case LIST:
        for (int i = 0; i < count; i++) puts(cases[i].name);
        return 0;
      case SEED: options.seed = (uint64_t)whole_number("--seed", optarg, 0, INT64_MAX); break;
      case BIG: options.big_bytes = (size_t)whole_number("--big-bytes", optarg, 1, 1LL << 30); break;
      case TIMEOUT: options.timeout_seconds = (double)whole_number("--timeout-seconds", optarg, 1, 86400); break;
      case ABI: options.abi = (int)whole_number("--abi", optarg, 6, 12); break;
      case DEVICE: options.device = (int)whole_number("--device", optarg, 0, 1023); break;
      case VERBOSE: options.log = 1; break;
      case HELP:
      case 'h': usage(stdout); return 0;
      default: usage(stderr); return EXIT_BAD_USAGE;
    }
  }
  if (options.plugin == NULL || options.folder == NULL || options.rank < 0 || optind != argc) {
    usage(stderr);
    return EXIT_BAD_USAGE;
  }
  watch_for_hang(options.timeout_seconds);
  char prefix[64];
  snprintf(prefix, sizeof prefix, "rank %d", options.rank);
  if (net_load(&net, options.plugin, options.abi, options.log ? prefix : NULL) != 0) return EXIT_PLUGIN_ERROR;
  max_receives = net_max_receives(&net, options.device);
  if (max_receives > NET_MAX_RECEIVES) max_receives = NET_MAX_RECEIVES;
  printf("# %s, interface version %d, seed %llu\n", net.name, net.version, (unsigned long long)options.seed);
  int ran = 0;
  for (int i = 0; i < count; i++) {
    if (options.only != NULL && strcmp(options.only, cases[i].name) != 0) continue;
    double start = now_seconds();
    if (cases[i].run == one_big_message && options.big_bytes == 0) {
      printf("ok %d - %s # SKIP without --big-bytes\n", ++ran, cases[i].name);
      continue;
    }
    cases[i].run();
    printf("ok %d - %s # %.2f s\n", ++ran, cases[i].name, now_seconds() - start);
    fflush(stdout);
  }
  if (ran == 0) fail_with(EXIT_BAD_USAGE, "there is no case %s; --list names them", options.only);
  printf("1..%d\n", ran);
  meet();
  net_unload(&net);
  return 0;
}
