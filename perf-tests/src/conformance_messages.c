/* Cases of single communicators: sizes, groups and tags, many requests, calls that would block, refusals. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "rendezvous.h"

void sizes_of_every_kind(void) {
  static const size_t sizes[] = {0,      1,      4,      127,     128,     129,         4095,
                                 4096,   4097,   8192,   61439,   61440,   61441,       65536,
                                 122880, 130000, 262144, 1000003, 1048576, 4194304 + 5, 16777216};
  void *comm = connect_one();
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) one_message(comm, i, sizes[i], sizes[i], (int)i);
  barrier();
  close_comm(comm);
}

void receives_larger_than_sends(void) {
  void *comm = connect_one();
  for (uint64_t i = 0; i < 40; i++) {
    size_t size = i * i * 37;
    one_message(comm, i, size, size + 1 + i * 1000, 3);
  }
  barrier();
  close_comm(comm);
}

void groups_with_tags_in_any_order(void) {
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
        WANT(got[i] == (int)sizes[i], "receive %d of a group is reported with %d instead of %zu", i, got[i], sizes[i]);
        check_buffer(&buffers[i], base + (uint64_t)i, sizes[i]);
      }
    }
    for (int i = 0; i < n; i++) {
      check(net_deregister(&net, comm, memory[i]), "deregMr");
      free(buffers[i].whole);
    }
  }
  barrier();
  close_comm(comm);
}

void equal_tags_in_a_group_match_in_order(void) {
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
      WANT(got[i] == 500 + i, "a send matches the first unused receive of its tag: %d is reported with %d", i, got[i]);
      for (int b = 0; b < got[i]; b++) {
        WANT(buffer.data[i * 1000 + b] == byte_at((uint64_t)i, (size_t)b), "wrong byte in receive %d", i);
      }
    }
  }
  check(net_deregister(&net, comm, memory), "deregMr");
  free(buffer.whole);
  barrier();
  close_comm(comm);
}

void random_sizes_and_orders(void) {
  void *comm = connect_one();
  random_traffic(comm, options.seed, 1500, 200000, 16);
  barrier();
  close_comm(comm);
}

void two_hundred_and_fifty_six_in_flight(void) {
  void *comm = connect_one();
  random_traffic(comm, options.seed + 1, 2500, 3000, MOST);
  barrier();
  close_comm(comm);
}

void slots_and_generations_wrap(void) {
  void *comm = connect_one();
  random_traffic(comm, options.seed + 2, 256 * 16 * 3, 2000, 32);
  barrier();
  close_comm(comm);
}

void a_full_communicator_would_block(void) {
  void *comm = connect_one();
  static unsigned char bytes[1024];
  void *memory = must_register(comm, bytes, sizeof bytes);
  void *requests[1024], *data = bytes;
  size_t size = 1;
  int tag = 1, count = 0;
  char name[32];
  if (is_sender()) {
    int posted = 0;
    snprintf(name, sizeof name, "count%d", barrier());
    if (rendezvous_get(options.folder, name, RECEIVER, &posted, sizeof posted, options.timeout_seconds) != 0) {
      exit(EXIT_TIMED_OUT);
    }
    for (int k = 0; k < posted; k++) wait_done(must_isend(comm, bytes, 1, tag, memory), NULL);
    void *request = (void *)1;
    check(net_isend(&net, comm, bytes, 1, tag, memory, &request), "isend");
    WANT(max_receives == 1 || request == NULL, "a send without a receive did not block");
  } else {
    for (;;) {
      void *request = NULL;
      check(net_irecv(&net, comm, 1, &data, &size, &tag, &memory, &request), "irecv");
      if (request == NULL || count == 1024) break;
      requests[count++] = request;
    }
    WANT(count >= 32 && count <= 512, "%d receives were accepted before one would block", count);
    snprintf(name, sizeof name, "count%d", barrier());
    if (rendezvous_put(options.folder, name, RECEIVER, &count, sizeof count) != 0) exit(EXIT_BAD_USAGE);
    for (int i = 0; i < count; i++) wait_done(requests[i], NULL);
  }
  barrier();
  close_comm(comm);
}

/*
 * A send larger than its receive is truncated, as in NCCL's own InfiniBand transport. Plugins without grouped receives
 * are exempt: they may refuse such a send.
 */
void sends_larger_than_their_receives_are_cut(void) {
  enum { LARGE = 200000 };
  static const size_t rooms[] = {100, 0, 4096, 61441, LARGE - 1};
  if (max_receives == 1) return;
  void *comm = connect_one();
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
    struct buffer buffer = make_buffer(LARGE);
    void *memory = must_register(comm, buffer.data, buffer.size), *data = buffer.data;
    int size = -1, tag = (int)i;
    if (is_sender()) {
      fill(&buffer, i, LARGE);
      wait_done(must_isend(comm, data, LARGE, tag, memory), &size);
    } else {
      size_t room = rooms[i];
      wait_done(must_irecv(comm, 1, &data, &room, &tag, &memory), &size);
      check_buffer(&buffer, i, room);
    }
    WANT(size == (int)rooms[i], "a send of %d bytes into %zu is reported with %d", LARGE, rooms[i], size);
    check(net_deregister(&net, comm, memory), "deregMr");
    free(buffer.whole);
  }
  barrier();
  close_comm(comm);
}

void sends_of_a_group_are_cut_each_to_its_receive(void) {
  enum { LARGE = 100000, N = 4 };
  size_t rooms[N] = {0, 70000, LARGE, 10};
  void *comm, *data[N], *memory[N], *requests[N];
  int tags[N] = {4, 5, 6, 7}, got[N];
  if (max_receives < N) return;
  comm = connect_one();
  struct buffer buffers[N];
  for (int i = 0; i < N; i++) {
    buffers[i] = make_buffer(LARGE);
    data[i] = buffers[i].data;
    memory[i] = must_register(comm, data[i], LARGE);
  }
  if (is_sender()) {
    for (int i = N - 1; i >= 0; i--) {
      fill(&buffers[i], (uint64_t)i, LARGE);
      requests[i] = must_isend(comm, data[i], LARGE, tags[i], memory[i]);
    }
    for (int i = 0; i < N; i++) wait_done(requests[i], &got[i]);
  } else {
    wait_done(must_irecv(comm, N, data, rooms, tags, memory), got);
  }
  for (int i = 0; i < N; i++) {
    WANT(got[i] == (int)rooms[i], "send %d of a group of %d bytes into %zu is reported with %d", i, LARGE, rooms[i],
         got[i]);
    if (!is_sender()) check_buffer(&buffers[i], (uint64_t)i, rooms[i]);
    check(net_deregister(&net, comm, memory[i]), "deregMr");
    free(buffers[i].whole);
  }
  barrier();
  close_comm(comm);
}

void one_big_message(void) {
  void *comm = connect_one();
  one_message(comm, 3, options.big_bytes, options.big_bytes, 1);
  barrier();
  close_comm(comm);
}
