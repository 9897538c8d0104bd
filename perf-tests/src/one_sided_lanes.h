/*
 * Operations between ranks of heddle-one-sided. A lane goes from one rank to another in one context. Its operations
 * are numbered; each writes random bytes into the next of its places at the target. In an even context some have a
 * strong signal that adds the number of operations since the last one; in an odd one each has a weak signal to its
 * place's own word. The target's checker waits for the words and then checks the bytes, as a GPU would.
 */
#ifndef HEDDLE_ONE_SIDED_LANES_H
#define HEDDLE_ONE_SIDED_LANES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { PLACES = 4, WORDS_OF_LANE = 3 + PLACES };

/* Words of a lane in a rank's memory of words: those of lanes to it, and the answers to lanes from it. */
enum { WORD_STRONG, WORD_CHECKED, WORD_TOTAL, WORD_WEAK };

/* Operations of an endless lane, until its source sends their number: WORD_TOTAL has one more. */
enum { UNTIL_KNOWN = INT32_MAX };

struct lanes {
  int rank, ranks, contexts;
  uint64_t seed;
  uint64_t operations; /* of each lane; or UNTIL_KNOWN */
  size_t max_bytes;
  uint64_t *words;
  unsigned char *incoming; /* ranks × contexts × PLACES pieces of max_bytes */
  unsigned char *outgoing;
  _Atomic uint64_t *checked; /* by lane to this rank: operations that the checker has verified */
  int spoil;                 /* bytes are wrong from operation 3 on, to test the checker */
  atomic_int stopped;        /* ends the checker's wait */
  _Atomic uint64_t found;    /* bytes that the checker has verified */
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
/* Returns whether this operation of an even context has a strong signal. */
int has_strong_signal(const struct lanes *, int from, int to, int context, uint64_t number);
void fill_piece(unsigned char *piece, size_t bytes, uint64_t random);
/* Returns the index of the first wrong byte; bytes if there is none. */
size_t wrong_byte(const unsigned char *piece, size_t bytes, uint64_t random);

/* Returns the number of operations of a lane to this rank; UNTIL_KNOWN if unknown. */
uint64_t lane_operations(const struct lanes *, size_t lane);

/*
 * The checker's thread: ends when every operation of every lane to this rank was verified. Wrong ones end the
 * process.
 */
void *check_lanes(void *lanes);

/*
 * Ends the process if a word of a lane to this rank differs from the sum of all signals, or if its last data are
 * wrong.
 */
void check_sums(const struct lanes *);

#endif
