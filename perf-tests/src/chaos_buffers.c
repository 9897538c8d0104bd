#include "chaos_buffers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define GUARD 0xa5
#define END_WORD 0x68656464656c656eULL

static uint64_t mix(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ value >> 27) * 0x94d049bb133111ebULL;
  return value ^ value >> 31;
}

static uint64_t key_of(uint64_t seed, int rank, uint64_t message) {
  return mix(seed * 0x9e3779b97f4a7c15ULL + mix(message * 2 + (uint64_t)rank + 1));
}

static uint64_t word(uint64_t key, size_t index) { return key + index * 0x9e3779b97f4a7c15ULL; }

static void fill(unsigned char *data, size_t size, uint64_t key) {
  size_t words = size / 8;
  for (size_t i = 0; i < words; i++) {
    uint64_t value = word(key, i);
    memcpy(data + i * 8, &value, 8);
  }
  uint64_t last = word(key, words);
  memcpy(data + words * 8, &last, size % 8);
}

static uint64_t different(const unsigned char *data, size_t size, uint64_t key) {
  uint64_t wrong = 0;
  for (size_t i = 0; i * 8 < size; i++) {
    uint64_t value = word(key, i);
    size_t length = size - i * 8 < 8 ? size - i * 8 : 8;
    if (memcmp(data + i * 8, &value, length) == 0) continue;
    const unsigned char *bytes = (const unsigned char *)&value;
    for (size_t b = 0; b < length; b++) wrong += data[i * 8 + b] != bytes[b];
  }
  return wrong;
}

void chaos_allocate(struct chaos_buffers *buffers, int count, size_t each, int at_rest) {
  size_t stride = (each + 2 * CHAOS_GUARD_BYTES + 127) / 128 * 128;
  *buffers = (struct chaos_buffers){.each = each, .stride = stride, .count = count, .bytes = (size_t)count * stride};
  buffers->memory = aligned_alloc(4096, (buffers->bytes + 4095) / 4096 * 4096);
  buffers->resting = calloc((size_t)count, sizeof *buffers->resting);
  if (buffers->memory == NULL || buffers->resting == NULL) {
    fail_with(EXIT_BAD_USAGE, "no memory for %d buffers of %zu bytes", count, each);
  }
  memset(buffers->memory, GUARD, buffers->bytes);
  for (int i = 0; i < count; i++) {
    if (at_rest)
      chaos_rest(buffers, i, (uint64_t)i);
    else
      memset(chaos_data(buffers, i), 0, each);
  }
}

void chaos_release(struct chaos_buffers *buffers) {
  free(buffers->memory);
  free(buffers->resting);
  *buffers = (struct chaos_buffers){0};
}

void *chaos_data(const struct chaos_buffers *buffers, int buffer) {
  return buffers->memory + (size_t)buffer * buffers->stride + CHAOS_GUARD_BYTES;
}

size_t chaos_size(uint64_t seed, int rank, uint64_t message, size_t max_bytes) {
  uint64_t drawn = key_of(seed ^ 0x5bd1e995, rank, message);
  uint64_t kind = drawn & 15, value = drawn >> 8;
  if (kind == 0) return 0;
  size_t most = kind < 8 ? 4096 : kind < 14 ? max_bytes / 4 : max_bytes;
  return 1 + (size_t)(value % (most < max_bytes ? most : max_bytes));
}

void chaos_fill(void *data, size_t size, uint64_t seed, int rank, uint64_t message) {
  fill(data, size, key_of(seed, rank, message));
}

void chaos_fill_end(void *data) {
  uint64_t words[CHAOS_END_BYTES / 8] = {END_WORD, ~END_WORD, END_WORD};
  memcpy(data, words, sizeof words);
}

int chaos_is_end(const void *data, int size) {
  uint64_t words[CHAOS_END_BYTES / 8];
  if (size != CHAOS_END_BYTES) return 0;
  memcpy(words, data, sizeof words);
  return words[0] == END_WORD && words[1] == ~END_WORD && words[2] == END_WORD;
}

static void report_wrong(const char *what, int buffer, uint64_t count, uint64_t message) {
  fprintf(stderr, "WRONG: %llu bytes of %s, buffer %d, message %llu\n", (unsigned long long)count, what, buffer,
          (unsigned long long)message);
}

void chaos_check(struct chaos_buffers *buffers, int buffer, int size, uint64_t seed, int rank, uint64_t message,
                 size_t max_bytes) {
  size_t expected = chaos_size(seed, rank, message, max_bytes);
  uint64_t wrong = 0;
  if (size < 0 || (size_t)size != expected) {
    fprintf(stderr, "WRONG: message %llu has %d bytes and not %zu\n", (unsigned long long)message, size, expected);
    wrong = expected + 1;
  } else {
    wrong = different(chaos_data(buffers, buffer), expected, key_of(seed, rank, message));
  }
  if (wrong != 0) report_wrong("a message", buffer, wrong, message);
  buffers->wrong_bytes += wrong;
}

void chaos_check_guards(struct chaos_buffers *buffers, int buffer) {
  const unsigned char *before = (unsigned char *)chaos_data(buffers, buffer) - CHAOS_GUARD_BYTES;
  const unsigned char *behind = (unsigned char *)chaos_data(buffers, buffer) + buffers->each;
  uint64_t wrong = 0;
  for (size_t i = 0; i < CHAOS_GUARD_BYTES; i++) wrong += (before[i] != GUARD) + (behind[i] != GUARD);
  if (wrong != 0) report_wrong("guards", buffer, wrong, 0);
  buffers->guard_bytes += wrong;
}

void chaos_rest(struct chaos_buffers *buffers, int buffer, uint64_t message) {
  buffers->resting[buffer] = mix(message ^ 0xc0ffee);
  fill(chaos_data(buffers, buffer), buffers->each, buffers->resting[buffer]);
}

void chaos_check_rest(struct chaos_buffers *buffers, int buffer) {
  uint64_t wrong = different(chaos_data(buffers, buffer), buffers->each, buffers->resting[buffer]);
  if (wrong != 0) report_wrong("a returned buffer", buffer, wrong, 0);
  buffers->canary_bytes += wrong;
}

void chaos_spoil(struct chaos_buffers *buffers, int buffer) {
  memset(chaos_data(buffers, buffer), 0x5a, buffers->each);
}
