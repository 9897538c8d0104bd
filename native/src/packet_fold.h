/*
 * The part of packets.c that processes a payload's bytes in registers of WIDTH bits; packets.c includes it once for
 * each width. The includer defines FEATURES (the instructions needed), REGISTER (the type of a register) and operations
 * of that width: LOAD, STORE, PRODUCT, SUM, IN_EACH_LANE and WIDENED. The end of this file undefines all of these.
 */
#define JOINED_AGAIN(name, width) name##_##width
#define JOINED(name, width) JOINED_AGAIN(name, width)
#define OF_WIDTH(name) JOINED(name, WIDTH)
#define TARGET __attribute__((target(FEATURES)))
#define STEP ((size_t)WIDTH / 8)
#define BLOCK (4 * STEP)
#define AHEAD 2048

/*
 * Constants that fold a register of the payload onto the fourth register behind it (by_four) or onto the next one
 * (by_one).
 */
static uint64_t OF_WIDTH(by_four)[2], OF_WIDTH(by_one)[2];

static void OF_WIDTH(prepare)(void) {
  make_constants(OF_WIDTH(by_four), 4 * WIDTH);
  make_constants(OF_WIDTH(by_one), WIDTH);
}

TARGET static inline REGISTER OF_WIDTH(twice)(const uint64_t *pair) { return IN_EACH_LANE(lane_loaded(pair)); }

TARGET static inline REGISTER OF_WIDTH(folded)(REGISTER value, REGISTER by, REGISTER onto) {
  return SUM(PRODUCT(value, by, 0x00), PRODUCT(value, by, 0x11), onto);
}

TARGET static inline REGISTER OF_WIDTH(loaded)(const uint8_t *from) { return LOAD((const void *)from); }

TARGET static inline REGISTER OF_WIDTH(copied)(uint8_t *to, const uint8_t *from) {
  REGISTER value = OF_WIDTH(loaded)(from);
  STORE((void *)to, value);
  return value;
}

/* Returns the first register of the payload with the headers folded onto it. */
TARGET static inline REGISTER OF_WIDTH(begun)(struct headers headers, REGISTER first) {
  lane before = folded_headers(headers);
  return SUM(first, WIDENED(before), WIDENED(lane_of(0, 0)));
}

TARGET static inline uint32_t OF_WIDTH(reduced)(REGISTER a, REGISTER b, REGISTER c, REGISTER d) {
  REGISTER by = OF_WIDTH(twice)(OF_WIDTH(by_one));
  d = OF_WIDTH(folded)(OF_WIDTH(folded)(OF_WIDTH(folded)(a, by, b), by, c), by, d);
  lane lanes[WIDTH / 128];
  STORE((void *)lanes, d);
  return reduced_lanes(lanes, WIDTH / 128);
}

/*
 * Copies count bytes, a nonzero multiple of BLOCK, and returns the CRC of the headers and these bytes. Prefetches the
 * cache lines of source and destination: the processor itself prefetches only to the end of a page, and the
 * destination's cache lines may be in another processor's cache.
 */
TARGET static uint32_t OF_WIDTH(copy)(struct headers headers, uint8_t *to, const uint8_t *from, size_t count) {
  REGISTER by = OF_WIDTH(twice)(OF_WIDTH(by_four)), a = OF_WIDTH(begun)(headers, OF_WIDTH(copied)(to, from));
  REGISTER b = OF_WIDTH(copied)(to + STEP, from + STEP), c = OF_WIDTH(copied)(to + 2 * STEP, from + 2 * STEP);
  REGISTER d = OF_WIDTH(copied)(to + 3 * STEP, from + 3 * STEP);
  for (size_t at = BLOCK; at < count; at += BLOCK) {
    for (size_t line = 0; line < BLOCK; line += 64) {
      __builtin_prefetch(from + at + AHEAD + line, 0);
      __builtin_prefetch(to + at + AHEAD + line, 0);
    }
    a = OF_WIDTH(folded)(a, by, OF_WIDTH(copied)(to + at, from + at));
    b = OF_WIDTH(folded)(b, by, OF_WIDTH(copied)(to + at + STEP, from + at + STEP));
    c = OF_WIDTH(folded)(c, by, OF_WIDTH(copied)(to + at + 2 * STEP, from + at + 2 * STEP));
    d = OF_WIDTH(folded)(d, by, OF_WIDTH(copied)(to + at + 3 * STEP, from + at + 3 * STEP));
  }
  return OF_WIDTH(reduced)(a, b, c, d);
}

/*
 * Returns the CRC of the headers and count bytes, without copying the bytes. Prefetches the cache lines at place, where
 * the bytes will be copied: they belong to the application and are seldom cached.
 */
TARGET static uint32_t OF_WIDTH(check)(struct headers headers, const uint8_t *from, size_t count,
                                       const uint8_t *place) {
  REGISTER by = OF_WIDTH(twice)(OF_WIDTH(by_four)), a = OF_WIDTH(begun)(headers, OF_WIDTH(loaded)(from));
  REGISTER b = OF_WIDTH(loaded)(from + STEP), c = OF_WIDTH(loaded)(from + 2 * STEP),
           d = OF_WIDTH(loaded)(from + 3 * STEP);
  for (size_t at = BLOCK; at < count; at += BLOCK) {
    for (size_t line = 0; line < BLOCK; line += 64) __builtin_prefetch(place + at + line, 1);
    a = OF_WIDTH(folded)(a, by, OF_WIDTH(loaded)(from + at));
    b = OF_WIDTH(folded)(b, by, OF_WIDTH(loaded)(from + at + STEP));
    c = OF_WIDTH(folded)(c, by, OF_WIDTH(loaded)(from + at + 2 * STEP));
    d = OF_WIDTH(folded)(d, by, OF_WIDTH(loaded)(from + at + 3 * STEP));
  }
  return OF_WIDTH(reduced)(a, b, c, d);
}

/*
 * Copies forwards, one store after another, since a reader may poll the last bytes of a cache line and assume that the
 * rest has arrived. memcpy may store the first bytes last, and a compiler may turn a plain copy loop into memcpy.
 */
TARGET static void OF_WIDTH(place)(uint8_t *to, const uint8_t *from, size_t count) {
#if defined(__aarch64__)
  for (size_t at = 0; at < count; at += STEP) lane_stored_in_its_line(to + at, lane_loaded(from + at));
#else
  for (size_t at = 0; at < count; at += STEP) {
    OF_WIDTH(copied)(to + at, from + at);
    __asm__ volatile("" ::: "memory");
  }
#endif
}

TARGET static int64_t OF_WIDTH(seal)(int64_t packet, int64_t count, int64_t payload, int64_t payload_bytes,
                                     int64_t front) {
  return build_packets_with(OF_WIDTH(copy), packet, count, payload, payload_bytes, front);
}

TARGET static int64_t OF_WIDTH(take)(int64_t packet, int64_t stride, int64_t count, int64_t front, int64_t expected) {
  return take_by(OF_WIDTH(check), OF_WIDTH(place), packet, stride, count, front, expected);
}

#undef JOINED_AGAIN
#undef JOINED
#undef OF_WIDTH
#undef TARGET
#undef STEP
#undef BLOCK
#undef AHEAD
#undef WIDTH
#undef FEATURES
#undef REGISTER
#undef LOAD
#undef STORE
#undef PRODUCT
#undef SUM
#undef IN_EACH_LANE
#undef WIDENED
