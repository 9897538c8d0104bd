/*
 * What ranks of heddle-one-sided write to each other. A lane goes from one rank to another in one context. Its operations
 * are numbered; each writes random bytes into the next of its places at the target. In an even context some have a strong
 * signal that adds what has come since the last one; in an odd one each has a weak signal of its place's own word. The
 * target's checker waits for the words and then looks at the bytes, as a GPU would.
 */
#ifndef HEDDLE_ONE_SIDED_LANES_H
#define HEDDLE_ONE_SIDED_LANES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { PLACES = 4, WORDS_OF_LANE = 3 + PLACES };

/* Words of a lane in a rank's memory of words: those of lanes to it, and the answers to lanes from it. */
enum { WORD_STRONG, WORD_CHECKED, WORD_TOTAL, WORD_WEAK };

/* Operations of a lane that goes on until its source says how many there were: WORD_TOTAL has one more. */
enum { UNTIL_TOLD = INT32_MAX };

struct lanes {
  int rank, ranks, contexts;
  uint64_t seed;
  uint64_t operations; /* of each lane; or UNTIL_TOLD */
  size_t max_bytes;
  uint64_t *words;
  unsigned char *incoming; /* ranks × contexts × PLACES pieces of max_bytes */
  unsigned char *outgoing;
  _Atomic uint64_t *checked; /* by lane to this rank: how many of its operations the checker has found right */
  int spoil;                 /* bytes are wrong from operation 3 on, to see that they are found */
  atomic_int stopped;        /* the checker isn't to wait any longer */
  _Atomic uint64_t found;    /* bytes that the checker has found right */
};

static inline size_t lane_of(const struct lanes *lanes, int peer, int context) {
  return (size_t)peer * (size_t)lanes->contexts + (size_t)context;
}

static inline size_t lane_count(const struct lanes *lanes) { return lane_of(lanes, lanes->ranks, 0); }

static inline size_t word_offset(size_t lane, int word) {
  return (lane * WORDS_OF_LANE + (size_t)word) * sizeof(uint64_t);
}

static inline size_t place_offset(const struct lanes *lanes, size_t lane, uint64_t number) {
  return (lane * PLACES + number % PLACES) * lanes->max_bytes;
}

static inline int is_weak(int context) { return context % 2; }

/* Random, the same at both ends. */
uint64_t lane_random(const struct lanes *, int from, int to, int context, uint64_t number);
size_t operation_bytes(const struct lanes *, uint64_t random);
/* Whether a strong signal goes with this operation of an even context. */
int has_strong_signal(const struct lanes *, int from, int to, int context, uint64_t number);
void fill_piece(unsigned char *piece, size_t bytes, uint64_t random);
/* The first byte that is wrong; bytes where none is. */
size_t wrong_byte(const unsigned char *piece, size_t bytes, uint64_t random);

/* How many operations there are of a lane to this rank; UNTIL_TOLD where that isn't known. */
uint64_t lane_operations(const struct lanes *, size_t lane);

/* The checker's thread: ends when every operation of every lane to this rank was found right. Wrong ones end the process. */
void *check_lanes(void *lanes);

/* Ends the process where a word of a lane to this rank has another value than all signals once make, or its last data. */
void check_sums(const struct lanes *);

#endif
