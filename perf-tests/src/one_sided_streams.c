#include "one_sided_streams.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

enum { EAGER_LOOKS = 2000 };

static uint64_t mixed(uint64_t value) { /* The finalizer of the generator splitmix64. */
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

uint64_t stream_random(const struct streams *streams, int from, int to, int context, uint64_t number) {
  uint64_t stream = (uint64_t)from << 40 | (uint64_t)to << 20 | (uint64_t)context;
  return mixed(mixed(streams->seed + stream * 0x9e3779b97f4a7c15u) + number * 0xd1342543de82ef95u);
}

size_t operation_bytes(const struct streams *streams, uint64_t random) {
  size_t bytes = (size_t)(random >> 8);
  switch (random & 7) {
    case 0: return 0;
    case 1:
    case 2: return bytes % 64 % (streams->max_bytes + 1);
    case 3: return streams->max_bytes - bytes % 8 % streams->max_bytes;
    default: return bytes % (streams->max_bytes + 1);
  }
}

int has_strong_signal(const struct streams *streams, int from, int to, int context, uint64_t number) {
  return number + 1 == streams->operations || number % 2 == 1 ||
         stream_random(streams, from, to, context, number) >> 60 < 6;
}

void fill_piece(unsigned char *piece, size_t bytes, uint64_t random) {
  for (size_t at = 0; at < bytes; at += sizeof random) {
    uint64_t word = mixed(random + at);
    memcpy(piece + at, &word, bytes - at < sizeof word ? bytes - at : sizeof word);
  }
}

size_t wrong_byte(const unsigned char *piece, size_t bytes, uint64_t random) {
  for (size_t at = 0; at < bytes; at += sizeof random) {
    uint64_t word = mixed(random + at);
    if (memcmp(piece + at, &word, bytes - at < sizeof word ? bytes - at : sizeof word) != 0) return at;
  }
  return bytes;
}

static void check_operations(const struct streams *streams, int from, int context, uint64_t number) {
  uint64_t random = stream_random(streams, from, streams->rank, context, number);
  size_t bytes = operation_bytes(streams, random);
  const unsigned char *piece = streams->incoming + place_offset(streams, stream_of(streams, from, context), number);
  size_t wrong = wrong_byte(piece, bytes, random);
  if (wrong != bytes) {
    fail_with(EXIT_WRONG_DATA,
              "WRONG: operation %lu from rank %d in context %d: its signal is there, and byte %zu of %zu isn't",
              (unsigned long)number, from, context, wrong, bytes);
  }
}

static uint64_t word(const struct streams *streams, size_t stream, int which) {
  return __atomic_load_n(streams->words + stream * WORDS_OF_STREAM + (size_t)which, __ATOMIC_ACQUIRE);
}

/* Returns how many operations from a rank in this context, counted from the first, have certainly been signalled. */
static uint64_t signalled(const struct streams *streams, int from, int context, uint64_t checked) {
  size_t stream = stream_of(streams, from, context);
  if (!is_weak(context)) return word(streams, stream, WORD_STRONG);
  uint64_t number = checked;
  while (number < streams->operations &&
         word(streams, stream, WORD_WEAK + (int)(number % PLACES)) == number / PLACES + 1) {
    number++;
  }
  return number;
}

uint64_t stream_operations(const struct streams *streams, size_t stream) {
  if (streams->operations != UNTIL_KNOWN) return streams->operations;
  uint64_t total = word(streams, stream, WORD_TOTAL);
  return total == 0 ? UNTIL_KNOWN : total - 1;
}

/*
 * Returns how many of the first `operations` operations write to this piece of memory; each sends a weak signal to the
 * piece's word.
 */
static uint64_t weak_signals(uint64_t operations, int place) {
  return operations / PLACES + ((uint64_t)place < operations % PLACES);
}

static void require(uint64_t found, uint64_t wanted, int from, int context) {
  if (found != wanted) {
    fail_with(EXIT_WRONG_DATA, "WRONG: rank %d's signals of context %d have added up to %lu, not %lu", from, context,
              (unsigned long)found, (unsigned long)wanted);
  }
}

void check_sums(const struct streams *streams) {
  for (int from = 0; from < streams->ranks; from++) {
    for (int context = 0; context < streams->contexts; context++) {
      size_t stream = stream_of(streams, from, context);
      uint64_t operations = stream_operations(streams, stream);
      require(word(streams, stream, WORD_STRONG), is_weak(context) ? 0 : operations, from, context);
      for (int place = 0; place < PLACES; place++) {
        uint64_t wanted = is_weak(context) ? weak_signals(operations, place) : 0;
        require(word(streams, stream, WORD_WEAK + place), wanted, from, context);
      }
      uint64_t first = operations > PLACES ? operations - PLACES : 0;
      for (uint64_t number = first; number < operations; number++) check_operations(streams, from, context, number);
    }
  }
}

/*
 * Checks operations until all are checked. Yields while signals arrive, and sleeps after a while without a signal. It
 * must sleep: on Linux 6.18, two threads that yield for ever beside two that sleep keep the kernel's own workers off
 * two cores (`ip` and `nft` hung for 19 s).
 */
void *check_streams(void *argument) {
  struct streams *streams = argument;
  size_t left = stream_count(streams);
  for (int idle = 0; left > 0 && !atomic_load(&streams->stopped); idle++) {
    left = 0;
    for (int from = 0; from < streams->ranks; from++) {
      for (int context = 0; context < streams->contexts; context++) {
        size_t stream = stream_of(streams, from, context);
        uint64_t checked = atomic_load_explicit(&streams->checked[stream], memory_order_relaxed);
        uint64_t there = signalled(streams, from, context, checked);
        if (there > streams->operations) {
          fail_with(EXIT_WRONG_DATA, "rank %d has signalled %lu operations in context %d, of %lu", from,
                    (unsigned long)there, context, (unsigned long)streams->operations);
        }
        for (; checked < there; checked++) {
          idle = 0;
          check_operations(streams, from, context, checked);
          streams->found += operation_bytes(streams, stream_random(streams, from, streams->rank, context, checked));
          atomic_store_explicit(&streams->checked[stream], checked + 1, memory_order_release);
        }
        left += checked < stream_operations(streams, stream);
      }
    }
    if (idle > EAGER_LOOKS)
      usleep(50);
    else
      sched_yield();
  }
  return NULL;
}
