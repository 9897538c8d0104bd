/*
 * The part of packets.c that processes a payload's bytes on an arm64 processor without PMULL: by its CRC-32
 * instructions, eight bytes at a time. Included by packets.c.
 */
#define BY_WORDS __attribute__((target("+crc")))
#define ROUND_WORDS 8
#define WORDS_AHEAD 2048

/* Returns the CRC of the headers. The first four bytes of headers.back are the last four of headers.front. */
BY_WORDS static inline uint32_t crc_of_headers(struct headers headers) {
  uint32_t state = __crc32d(UINT32_MAX, vgetq_lane_u64(headers.front, 0));
  state = __crc32d(state, vgetq_lane_u64(headers.front, 1));
  state = __crc32w(state, (uint32_t)(vgetq_lane_u64(headers.back, 0) >> 32));
  return __crc32d(state, vgetq_lane_u64(headers.back, 1));
}

BY_WORDS static inline uint32_t crc_of_round(uint32_t state, const uint64_t *words) {
  for (size_t i = 0; i < ROUND_WORDS; i++) state = __crc32d(state, words[i]);
  return state;
}

/*
 * Copies count bytes, a multiple of 256, and returns the CRC of the headers and these bytes, as copy in packet_fold.h
 * does.
 */
BY_WORDS static uint32_t copy_words(struct headers headers, uint8_t *to, const uint8_t *from, size_t count) {
  uint32_t state = crc_of_headers(headers);
  for (size_t at = 0; at < count; at += sizeof(uint64_t) * ROUND_WORDS) {
    uint64_t words[ROUND_WORDS];
    __builtin_prefetch(from + at + WORDS_AHEAD, 0);
    __builtin_prefetch(to + at + WORDS_AHEAD, 1);
    memcpy(words, from + at, sizeof words);
    memcpy(to + at, words, sizeof words);
    state = crc_of_round(state, words);
  }
  return state;
}

BY_WORDS static uint32_t check_words(struct headers headers, const uint8_t *from, size_t count, const uint8_t *place) {
  uint32_t state = crc_of_headers(headers);
  for (size_t at = 0; at < count; at += sizeof(uint64_t) * ROUND_WORDS) {
    uint64_t words[ROUND_WORDS];
    __builtin_prefetch(place + at, 1);
    memcpy(words, from + at, sizeof words);
    state = crc_of_round(state, words);
  }
  return state;
}

static void place_words(uint8_t *to, const uint8_t *from, size_t count) {
  for (size_t at = 0; at < count; at += sizeof(lane)) lane_stored_in_its_line(to + at, lane_loaded(from + at));
}

BY_WORDS static int64_t seal_words(int64_t packet, int64_t count, int64_t payload, int64_t payload_bytes,
                                   int64_t front) {
  return build_packets_with(copy_words, packet, count, payload, payload_bytes, front);
}

BY_WORDS static int64_t take_words(int64_t packet, int64_t stride, int64_t count, int64_t front, int64_t expected) {
  return take_by(check_words, place_words, packet, stride, count, front, expected);
}
