/*
 * Declarations that the cases of heddle-conformance share: the two ranks' run, buffers with guards, connections, single
 * messages and random traffic. Rank 0 sends and rank 1 receives, with the same seed. Any failed check ends the process.
 */
#ifndef HEDDLE_CONFORMANCE_H
#define HEDDLE_CONFORMANCE_H

#include <stddef.h>
#include <stdint.h>

#include "net_plugin.h"
#include "report.h"

#define GUARD 256
#define GUARD_BYTE 0x5a
#define MOST 256 /* maximum number of requests in flight in a communicator */
#define SENDER 0
#define RECEIVER 1

struct conformance_options {
  const char *plugin, *folder, *only;
  int rank, abi, device;
  uint64_t seed;
  size_t big_bytes;
  double timeout_seconds;
  int log;
};

extern struct conformance_options options;
extern struct net_plugin net;
extern int max_receives;

#define WANT(condition, format, ...) \
  do { \
    if (!(condition)) \
      fail_with(EXIT_WRONG_DATA, "rank %d, seed %llu: " format, options.rank, (unsigned long long)options.seed, \
                ##__VA_ARGS__); \
  } while (0)

int is_sender(void);

/* Waits until the other rank has called this too. Returns how often this rank has called this. */
int barrier(void);

uint64_t next_random(uint64_t *state);

/* Returns the byte at a position of the message with this number. */
unsigned char byte_at(uint64_t message, size_t position);

struct buffer {
  unsigned char *whole, *data;
  size_t size;
};

/* Allocates memory with guard bytes on both sides. The caller frees `whole`. */
struct buffer make_buffer(size_t size);

void fill(struct buffer *buffer, uint64_t message, size_t size);

/* Checks `size` bytes of a message, and the guard bytes around and after them. */
void check_buffer(const struct buffer *buffer, uint64_t message, size_t size);

/* Each of these functions repeats its call of the plugin until the call returns a communicator. */
void *finish_connect(void *handle);
void *finish_accept(void *listen_comm);

/* Connects `count` communicators through one listener. The sender gets send comms, the receiver gets receive comms. */
void connect_all(void **comms, int count);
void *connect_one(void);
void close_comm(void *comm);

void *must_register(void *comm, void *data, size_t size);
void wait_done(void *request, int *sizes);
void *must_isend(void *comm, void *data, size_t size, int tag, void *memory);
void *must_irecv(void *comm, int n, void **data, size_t *sizes, int *tags, void **memory);

/* Sends or receives one message. The receive is posted with `capacity` bytes. */
void one_message(void *comm, uint64_t message, size_t size, size_t capacity, int tag);

/*
 * Sends or receives messages of random sizes with random numbers of requests in flight at either end, which are tested
 * in random order. Messages are numbered from 0 to `messages` - 1. Both ends derive the sizes from the same seed.
 */
void random_traffic(void *comm, uint64_t seed, int messages, size_t largest, int most);

/* ---- cases for messages ---- */
void sizes_of_every_kind(void);
void receives_larger_than_sends(void);
void groups_with_tags_in_any_order(void);
void equal_tags_in_a_group_match_in_order(void);
void random_sizes_and_orders(void);
void two_hundred_and_fifty_six_in_flight(void);
void slots_and_generations_wrap(void);
void a_full_communicator_would_block(void);
void sends_larger_than_their_receives_are_cut(void);
void sends_of_a_group_are_cut_each_to_its_receive(void);
void one_big_message(void);

/* ---- cases for communicators, listeners and registrations ---- */
void many_communicators_in_turn(void);
void two_threads_with_a_communicator_each(void);
void registration_during_traffic(void);
void parts_of_a_registered_range(void);
void memory_behind_a_dma_buf(void);
void connect_ends_before_accept_begins(void);
void accept_is_polled_long_before_connect(void);
void listener_without_connections_can_be_closed(void);
void close_with_requests_in_flight(void);
void sends_to_a_peer_that_closes_would_block(void);

#endif
