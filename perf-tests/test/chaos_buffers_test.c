/* Test of the soak's checks. They must detect the bytes that this program damages, and nothing in undamaged buffers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/chaos_buffers.h"

#define EACH 5000
#define SEED 77

static int failed;

static void expect(const char *what, uint64_t found, uint64_t expected) {
  if (found == expected) return;
  fprintf(stderr, "%s: %llu, not %llu\n", what, (unsigned long long)found, (unsigned long long)expected);
  failed = 1;
}

/* Returns the number of a message that isn't empty, and its size. */
static uint64_t some_message(size_t *size) {
  uint64_t message = 0;
  while ((*size = chaos_size(SEED, 1, message, EACH)) < 100) message++;
  return message;
}

int main(void) {
  struct chaos_buffers buffers;
  chaos_allocate(&buffers, 3, EACH, 1);
  unsigned char *data = chaos_data(&buffers, 1);
  size_t size;
  uint64_t message = some_message(&size);

  chaos_check_rest(&buffers, 1);
  chaos_check_guards(&buffers, 1);
  chaos_fill(data, size, SEED, 1, message);
  chaos_check(&buffers, 1, (int)size, SEED, 1, message, EACH);
  expect("wrong bytes of a right message", buffers.wrong_bytes, 0);

  data[size - 1] ^= 1;
  data[17] ^= 0x80;
  chaos_check(&buffers, 1, (int)size, SEED, 1, message, EACH);
  expect("two changed bytes of a message", buffers.wrong_bytes, 2);
  chaos_check(&buffers, 1, (int)size - 1, SEED, 1, message, EACH);
  expect("a message that is too short", buffers.wrong_bytes, 2 + size + 1);

  chaos_rest(&buffers, 1, message);
  data[0] ^= 1;
  chaos_check_rest(&buffers, 1);
  expect("a write into a buffer that was handed back", buffers.canary_bytes, 1);

  expect("guards that nothing has touched", buffers.guard_bytes, 0);
  data[-1] ^= 1;
  data[EACH + 3] ^= 1;
  chaos_check_guards(&buffers, 1);
  expect("writes before and behind a buffer", buffers.guard_bytes, 2);
  chaos_check_guards(&buffers, 0);
  chaos_check_guards(&buffers, 2);
  expect("the neighbours' guards", buffers.guard_bytes, 2);

  unsigned char end[CHAOS_END_BYTES];
  chaos_fill_end(end);
  expect("an end", (uint64_t)chaos_is_end(end, CHAOS_END_BYTES), 1);
  chaos_fill(end, sizeof end, SEED, 1, message);
  expect("a message as long as an end", (uint64_t)chaos_is_end(end, CHAOS_END_BYTES), 0);
  return failed;
}
