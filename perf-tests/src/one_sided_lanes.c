#include "one_sided_lanes.h"

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

uint64_t lane_random(const struct lanes *lanes, int from, int to, int context, uint64_t number) {
  uint64_t lane = (uint64_t)from << 40 | (uint64_t)to << 20 | (uint64_t)context;
  return mixed(mixed(lanes->seed + lane * 0x9e3779b97f4a7c15u) + number * 0xd1342543de82ef95u);
}

size_t operation_bytes(const struct lanes *lanes, uint64_t random) {
  size_t bytes = (size_t)(random >> 8);
  switch (random & 7) {
    case 0: return 0;
    case 1:
    case 2: return bytes % 64 % (lanes->max_bytes + 1);
    case 3: return lanes->max_bytes - bytes % 8 % lanes->max_bytes;
    default: return bytes % (lanes->max_bytes + 1);
  }
}

int has_strong_signal(const struct lanes *lanes, int from, int to, int context, uint64_t number) {
  return number + 1 == lanes->operations || number % 2 == 1 || lane_random(lanes, from, to, context, number) >> 60 < 6;
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

static void check_operations(const struct lanes *lanes, int from, int context, uint64_t number) {
  uint64_t random = lane_random(lanes, from, lanes->rank, context, number);
  size_t bytes = operation_bytes(lanes, random);
  const unsigned char *piece = lanes->incoming + place_offset(lanes, lane_of(lanes, from, context), number);
  size_t wrong = wrong_byte(piece, bytes, random);
  if (wrong != bytes) {
    fail_with(EXIT_WRONG_DATA,
              "WRONG: operation %lu from rank %d in context %d: its signal is there, and byte %zu of %zu isn't",
              (unsigned long)number, from, context, wrong, bytes);
  }
}

static uint64_t word(const struct lanes *lanes, size_t lane, int which) {
  return __atomic_load_n(lanes->words + lane * WORDS_OF_LANE + (size_t)which, __ATOMIC_ACQUIRE);
}

/* Returns how many operations from a rank in this context, counted from the first, have certainly been signalled. */
static uint64_t signalled(const struct lanes *lanes, int from, int context, uint64_t checked) {
  size_t lane = lane_of(lanes, from, context);
  if (!is_weak(context)) return word(lanes, lane, WORD_STRONG);
  uint64_t number = checked;
  while (number < lanes->operations && word(lanes, lane, WORD_WEAK + (int)(number % PLACES)) == number / PLACES + 1) {
    number++;
  }
  return number;
}

uint64_t lane_operations(const struct lanes *lanes, size_t lane) {
  if (lanes->operations != UNTIL_KNOWN) return lanes->operations;
  uint64_t total = word(lanes, lane, WORD_TOTAL);
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

void check_sums(const struct lanes *lanes) {
  for (int from = 0; from < lanes->ranks; from++) {
    for (int context = 0; context < lanes->contexts; context++) {
      size_t lane = lane_of(lanes, from, context);
      uint64_t operations = lane_operations(lanes, lane);
      require(word(lanes, lane, WORD_STRONG), is_weak(context) ? 0 : operations, from, context);
      for (int place = 0; place < PLACES; place++) {
        uint64_t wanted = is_weak(context) ? weak_signals(operations, place) : 0;
        require(word(lanes, lane, WORD_WEAK + place), wanted, from, context);
      }
      uint64_t first = operations > PLACES ? operations - PLACES : 0;
      for (uint64_t number = first; number < operations; number++) check_operations(lanes, from, context, number);
    }
  }
}

/*
 * Checks operations until all are checked. Yields while signals arrive, and sleeps after a while without a signal. On
 * Linux 6.18, two threads that yield for ever, beside two that sleep, keep the kernel's own workers from two cores all
 * the time (`ip` and `nft` hung for 19 s).
 */
void *check_lanes(void *argument) {
  struct lanes *lanes = argument;
  size_t left = lane_count(lanes);
  for (int idle = 0; left > 0 && !atomic_load(&lanes->stopped); idle++) {
    left = 0;
    for (int from = 0; from < lanes->ranks; from++) {
      for (int context = 0; context < lanes->contexts; context++) {
        size_t lane = lane_of(lanes, from, context);
        uint64_t checked = atomic_load_explicit(&lanes->checked[lane], memory_order_relaxed);
        uint64_t there = signalled(lanes, from, context, checked);
        if (there > lanes->operations) {
          fail_with(EXIT_WRONG_DATA, "rank %d has signalled %lu operations in context %d, of %lu", from,
                    (unsigned long)there, context, (unsigned long)lanes->operations);
        }
        for (; checked < there; checked++) {
          idle = 0;
          check_operations(lanes, from, context, checked);
          lanes->found += operation_bytes(lanes, lane_random(lanes, from, lanes->rank, context, checked));
          atomic_store_explicit(&lanes->checked[lane], checked + 1, memory_order_release);
        }
        left += checked < lane_operations(lanes, lane);
      }
    }
    if (idle > EAGER_LOOKS)
      usleep(50);
    else
      sched_yield();
  }
  return NULL;
}
