#include "one_sided_lanes.h"

#include <sched.h>
#include <string.h>

#include "report.h"

static uint64_t mixed(uint64_t value) { /* splitmix64's finalizer */
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

static void look_at(const struct lanes *lanes, int from, int context, uint64_t number) {
  uint64_t random = lane_random(lanes, from, lanes->rank, context, number);
  size_t bytes = operation_bytes(lanes, random);
  const unsigned char *piece = lanes->incoming + place_offset(lanes, lane_of(lanes, from, context), number);
  size_t wrong = wrong_byte(piece, bytes, random);
  if (wrong != bytes) {
    fail_with(EXIT_WRONG_DATA,
              "operation %lu from rank %d in context %d: its signal is there, and byte %zu of %zu isn't",
              (unsigned long)number, from, context, wrong, bytes);
  }
}

static uint64_t word(const struct lanes *lanes, size_t lane, int which) {
  return __atomic_load_n(lanes->words + lane * WORDS_OF_LANE + (size_t)which, __ATOMIC_ACQUIRE);
}

/* How many of the lane's operations have been signalled for certain, all before it included. */
static uint64_t signalled(const struct lanes *lanes, int from, int context, uint64_t checked) {
  size_t lane = lane_of(lanes, from, context);
  if (!is_weak(context)) return word(lanes, lane, WORD_STRONG);
  uint64_t number = checked;
  while (number < lanes->operations && word(lanes, lane, WORD_WEAK + (int)(number % PLACES)) == number / PLACES + 1) {
    number++;
  }
  return number;
}

void *check_lanes(void *argument) {
  struct lanes *lanes = argument;
  size_t left = lane_count(lanes);
  while (left > 0) {
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
          look_at(lanes, from, context, checked);
          atomic_store_explicit(&lanes->checked[lane], checked + 1, memory_order_release);
        }
        left += checked < lanes->operations;
      }
    }
    sched_yield();
  }
  return NULL;
}
