/*
 * Operations between ranks of heddle-one-sided. A stream is the sequence of operations from one rank to another in one
 * context. Each stream has PLACES pieces of memory at the target. Operation n of a stream writes random bytes into
 * piece n mod PLACES. In contexts with an even number, some operations have a strong signal. It adds to the stream's
 * word the number of operations since the previous such signal. In contexts with an odd number, each operation has a
 * weak signal to the word of its piece. The checker, a thread at the target, waits until a signal has changed a word
 * and then checks the bytes, as a GPU would.
 */
#ifndef HEDDLE_ONE_SIDED_STREAMS_H
#define HEDDLE_ONE_SIDED_STREAMS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { PLACES = 4, WORDS_OF_STREAM = 3 + PLACES };

/*
 * Indexes of words in a rank's memory, which has these words for each peer and context. WORD_CHECKED is the peer's
 * report: how many operations of the stream from this rank it has checked. The other words belong to the stream from
 * the peer.
 */
enum { WORD_STRONG, WORD_CHECKED, WORD_TOTAL, WORD_WEAK };

/*
 * Number of operations of a stream while its source hasn't sent the number yet. The source later sends the number plus
 * one to WORD_TOTAL.
 */
enum { UNTIL_KNOWN = INT32_MAX };

struct streams {
  int rank, ranks, contexts;
  uint64_t seed;
  uint64_t operations; /* number of operations per source, target and context, or UNTIL_KNOWN */
  size_t max_bytes;
  uint64_t *words;
  unsigned char *incoming; /* ranks × contexts × PLACES pieces of max_bytes each */
  unsigned char *outgoing;
  _Atomic uint64_t *checked; /* per source rank and context: number of operations that the checker has verified */
  int spoil;                 /* whether bytes are wrong from operation 3 on, to test the checker */
  atomic_int stopped;        /* set to end the checker's wait */
  _Atomic uint64_t found;    /* number of bytes that the checker has verified */
};

static inline size_t stream_of(const struct streams *streams, int peer, int context) {
  return (size_t)peer * (size_t)streams->contexts + (size_t)context;
}

static inline size_t stream_count(const struct streams *streams) { return stream_of(streams, streams->ranks, 0); }

static inline size_t word_offset(size_t stream, int word) {
  return (stream * WORDS_OF_STREAM + (size_t)word) * sizeof(uint64_t);
}

static inline size_t place_offset(const struct streams *streams, size_t stream, uint64_t number) {
  return (stream * PLACES + number % PLACES) * streams->max_bytes;
}

static inline int is_weak(int context) { return context % 2; }

/* Returns an operation's random number, which is the same at source and target. */
uint64_t stream_random(const struct streams *, int from, int to, int context, uint64_t number);
size_t operation_bytes(const struct streams *, uint64_t random);
/* Returns whether this operation of an even context has a strong signal. */
int has_strong_signal(const struct streams *, int from, int to, int context, uint64_t number);
void fill_piece(unsigned char *piece, size_t bytes, uint64_t random);
/* Returns the index of the first wrong byte, or `bytes` if there is none. */
size_t wrong_byte(const unsigned char *piece, size_t bytes, uint64_t random);

/*
 * Returns the number of operations from one rank to this rank in one context (a stream), or UNTIL_KNOWN if it is
 * unknown.
 */
uint64_t stream_operations(const struct streams *, size_t stream);

/*
 * Body of the checker's thread. It ends when it has verified every operation from all ranks to this rank. A wrong
 * operation ends the process.
 */
void *check_streams(void *streams);

/*
 * Ends the process if a signal word of this rank differs from the sum of all signals to it, or if the last data from
 * any rank are wrong.
 */
void check_sums(const struct streams *);

#endif
