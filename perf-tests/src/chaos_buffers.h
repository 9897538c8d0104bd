/* Buffers that detect wrong writes: seeded messages, guards around them, canaries in idle ones. */
#ifndef HEDDLE_CHAOS_BUFFERS_H
#define HEDDLE_CHAOS_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#define CHAOS_GUARD_BYTES 256
#define CHAOS_END_BYTES 24

struct chaos_buffers {
  unsigned char *memory; /* all of it, registered at once: a write beside its buffer is permitted, and detected */
  size_t bytes, each, stride;
  int count;
  uint64_t *resting; /* the fill of each idle buffer */
  uint64_t wrong_bytes, guard_bytes, canary_bytes;
};

/* Allocates buffers of `each` bytes with their guards; at_rest: whether they begin with canaries. */
void chaos_allocate(struct chaos_buffers *, int count, size_t each, int at_rest);
void chaos_release(struct chaos_buffers *);
void *chaos_data(const struct chaos_buffers *, int buffer);

/* Returns the size of a rank's message: mostly small, a few large, a few empty, of any length. */
size_t chaos_size(uint64_t seed, int rank, uint64_t message, size_t max_bytes);
void chaos_fill(void *data, size_t size, uint64_t seed, int rank, uint64_t message);

/* Fills in the message that marks the end. */
void chaos_fill_end(void *data);
int chaos_is_end(const void *data, int size);

/* Counts the wrong bytes of a message; a wrong size counts as all of it. */
void chaos_check(struct chaos_buffers *, int buffer, int size, uint64_t seed, int rank, uint64_t message,
                 size_t max_bytes);
void chaos_check_guards(struct chaos_buffers *, int buffer);

/* Fills a returned buffer; chaos_check_rest counts the bytes changed since. */
void chaos_rest(struct chaos_buffers *, int buffer, uint64_t message);
void chaos_check_rest(struct chaos_buffers *, int buffer);

/* Overwrites the source of a finished send. */
void chaos_spoil(struct chaos_buffers *, int buffer);

#endif
