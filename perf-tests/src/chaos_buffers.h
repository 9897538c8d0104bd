/* Buffers that detect wrong writes: seeded messages, guards around each buffer, and canaries in idle buffers. */
#ifndef HEDDLE_CHAOS_BUFFERS_H
#define HEDDLE_CHAOS_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#define CHAOS_GUARD_BYTES 256
#define CHAOS_END_BYTES 24

struct chaos_buffers {
  /* memory of all buffers, registered as one region: a write beside its buffer is permitted, so the guards detect it */
  unsigned char *memory;
  size_t bytes, each, stride;
  int count;
  uint64_t *resting; /* for each idle buffer, the number from which the canaries are computed */
  uint64_t wrong_bytes, guard_bytes, canary_bytes;
};

/* Allocates buffers of `each` bytes with their guards. `at_rest`: whether the buffers are filled with canaries. */
void chaos_allocate(struct chaos_buffers *, int count, size_t each, int at_rest);
void chaos_release(struct chaos_buffers *);
void *chaos_data(const struct chaos_buffers *, int buffer);

/* Returns the size of a rank's message. Most are small, a few large, a few empty, and any length is possible. */
size_t chaos_size(uint64_t seed, int rank, uint64_t message, size_t max_bytes);
void chaos_fill(void *data, size_t size, uint64_t seed, int rank, uint64_t message);

/* Writes the message that marks the end of a direction. */
void chaos_fill_end(void *data);
int chaos_is_end(const void *data, int size);

/* Counts the wrong bytes of a message. If the size is wrong, all bytes count as wrong. */
void chaos_check(struct chaos_buffers *, int buffer, int size, uint64_t seed, int rank, uint64_t message,
                 size_t max_bytes);
void chaos_check_guards(struct chaos_buffers *, int buffer);

/*
 * Fills an idle buffer, which the plugin has returned, with canaries. chaos_check_rest counts the bytes that have
 * changed since.
 */
void chaos_rest(struct chaos_buffers *, int buffer, uint64_t message);
void chaos_check_rest(struct chaos_buffers *, int buffer);

/* Overwrites the buffer of a finished send, so that a late read by the plugin sends wrong data. */
void chaos_spoil(struct chaos_buffers *, int buffer);

#endif
