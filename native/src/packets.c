/*
 * Builds and accepts the full-sized packets of one RDMA WRITE. Building copies each payload behind its header and
 * appends the invariant CRC, in one pass over the bytes; Java needs two passes. Accepting takes two passes, since no
 * byte may be placed before its CRC was checked, but runs no Java code between packets. Java calls these functions as
 * short critical calls, by the addresses that jvm_start.c passes.
 *
 * CRC-32 by carry-less multiplication follows Intel's paper (Gopal and others, 2009): a block is folded onto the block
 * n bits behind it by multiplying its halves with x^(n+32) and x^(n-32) modulo the polynomial. All values are
 * bit-reflected. The code that processes payloads is in packet_fold.h, included once for each register width, and in
 * packet_words.h for arm64 without PMULL.
 */
#include "shim.h"

#include <endian.h>
#include <pthread.h>
#include <string.h>

#include "packet_lane.h"

#if defined(FOLDING)

#define POLYNOMIAL 0xedb88320u
#define BASE_BYTES 12   /* length of the base transport header */
#define HEADER_BYTES 28 /* length of the base transport header and the RETH (address, key, length) */

static uint32_t table[4][256];
static uint64_t by_lane[2];

static void make_table(void) {
  for (unsigned i = 0; i < 256; i++) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? POLYNOMIAL : 0);
    table[0][i] = value;
  }
  for (unsigned i = 0; i < 256; i++) {
    for (int row = 1; row < 4; row++) table[row][i] = table[row - 1][i] >> 8 ^ table[0][table[row - 1][i] & 255];
  }
}

/* Returns x^n modulo the polynomial, reflected, shifted left by one bit. */
static uint64_t constant(unsigned n) {
  uint32_t power = 1u << 31;
  while (n-- > 0) power = power >> 1 ^ (power & 1 ? POLYNOMIAL : 0);
  return (uint64_t)power << 1;
}

static void make_constants(uint64_t *pair, unsigned bits) {
  pair[0] = constant(bits + 32);
  pair[1] = constant(bits - 32);
}

static uint32_t over_words(uint32_t state, const uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i += 4) {
    uint32_t word;
    memcpy(&word, bytes + i, sizeof word);
    word ^= state;
    state = table[3][word & 255] ^ table[2][word >> 8 & 255] ^ table[1][word >> 16 & 255] ^ table[0][word >> 24];
  }
  return state;
}

/* Folds a lane: returns its contribution to the lane behind it. */
FOLDING static inline lane folded_once(lane value) {
  lane by = lane_loaded(by_lane);
  return lane_sum(lane_product(value, by, 0x00), lane_product(value, by, 0x11));
}

FOLDING static inline uint32_t reduced_lanes(const lane *lanes, int count) {
  lane rest = lanes[0];
  for (int i = 1; i < count; i++) rest = lane_sum(folded_once(rest), lanes[i]);
  uint8_t last[16];
  lane_stored(last, rest);
  return over_words(0, last, sizeof last);
}

/* The 28 bytes of a packet's headers, in two lanes of 16 bytes that overlap in four bytes. */
struct headers {
  lane front, back;
};

/* Returns the headers' contribution to the 16 bytes behind them, as if four zero bytes preceded the headers. */
FOLDING static inline lane folded_headers(struct headers headers) {
  lane front = lane_shifted_by_4(lane_sum(headers.front, lane_of(UINT32_MAX, 0)));
  return folded_once(lane_sum(headers.back, folded_once(front)));
}

/*
 * Forces the compiler to inline a function. packet_fold.h calls build_packets_with() and take_by() with the copy or the
 * check of one register width, which the compiler then inlines too.
 */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

static uint32_t load32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return be32toh(value);
}

static uint64_t load64(const uint8_t *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return be64toh(value);
}

static inline struct headers headers_of(const uint8_t *packet) {
  return (struct headers){lane_loaded(packet), lane_loaded(packet + HEADER_BYTES - 16)};
}

/*
 * Builds count packets. Each packet after the first has the next sequence number and the next address, a smaller
 * remaining length, no acknowledge request and no tag. Its headers are assembled in registers, since loading parts that
 * were just stored would stall.
 */
ALWAYS_INLINE int64_t build_packets_with(uint32_t (*copy)(struct headers, uint8_t *, const uint8_t *, size_t),
                                         int64_t packet, int64_t count, int64_t payload, int64_t payload_bytes,
                                         int64_t front) {
  uint8_t *to = (uint8_t *)packet;
  const uint8_t *from = (const uint8_t *)payload;
  size_t bytes = (size_t)payload_bytes, whole = HEADER_BYTES + bytes + sizeof(uint32_t);
  uint64_t first_word = load64(to), address = load64(to + BASE_BYTES), key = load32(to + 20);
  uint32_t number = load32(to + 8), left = load32(to + 24);
  struct headers headers = headers_of(to);
  for (int64_t i = 0; i < count; i++, to += whole, from += bytes) {
    if (i > 0) {
      number = (number + 1) & 0xffffff;
      address += bytes;
      left -= (uint32_t)bytes;
      headers.front = lane_of(htobe64(first_word), htobe64((uint64_t)number << 32 | address >> 32));
      headers.back = lane_of(htobe64(address), htobe64(key << 32 | left));
      lane_stored(to, headers.front);
      lane_stored(to + HEADER_BYTES - 16, headers.back);
    }
    uint32_t icrc = ~copy(headers, to + HEADER_BYTES, from, bytes) ^ (uint32_t)front;
    memcpy(to + HEADER_BYTES + bytes, &icrc, sizeof icrc);
  }
  return 0;
}

/*
 * Returns whether a packet is the next of a row of WRITE ONLY packets: its headers have the expected fields and this
 * sequence number, and the key permits writing at its address.
 */
static bool is_next(const uint8_t *packet, const struct heddle_row *row, uint32_t number, size_t bytes) {
  uint64_t offset = load64(packet + BASE_BYTES) - row->region, left = load32(packet + 24);
  return load64(packet) == row->first_word && (load32(packet + 8) & 0xffffff) == (number & 0xffffff) &&
         load32(packet + 20) == (uint32_t)row->key && left <= INT32_MAX && left >= bytes &&
         offset <= row->region_bytes && left <= row->region_bytes - offset;
}

ALWAYS_INLINE int64_t take_by(uint32_t (*check)(struct headers, const uint8_t *, size_t, const uint8_t *),
                              void (*place)(uint8_t *, const uint8_t *, size_t), int64_t packet, int64_t stride,
                              int64_t count, int64_t front, int64_t expected) {
  const struct heddle_row *row = (const struct heddle_row *)expected;
  const uint8_t *from = (const uint8_t *)packet;
  size_t bytes = (size_t)stride - HEADER_BYTES - sizeof(uint32_t);
  int64_t taken = 0, tag = 0, asked = 0;
  for (; taken < count && !asked; taken++, from += stride) {
    if (!is_next(from, row, (uint32_t)(row->number + (uint64_t)taken), bytes)) break;
    uint8_t *to = (uint8_t *)(uintptr_t)load64(from + BASE_BYTES);
    uint32_t stored, icrc = ~check(headers_of(from), from + HEADER_BYTES, bytes, to) ^ (uint32_t)front;
    memcpy(&stored, from + HEADER_BYTES + bytes, sizeof stored);
    if (icrc != stored) break;
    place(to, from + HEADER_BYTES, bytes);
    asked = from[8] >> 7;
    if (from[8] & 0x7f) tag = from[8] & 0x7f;
  }
  return asked << 40 | tag << 32 | taken;
}

#if defined(__x86_64__)

#define WIDTH 512
#define FEATURES "avx512f,avx512vl,avx512dq,vpclmulqdq,pclmul,sse4.1"
#define REGISTER __m512i
#define LOAD _mm512_loadu_si512
#define STORE _mm512_storeu_si512
#define PRODUCT _mm512_clmulepi64_epi128
#define SUM(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define IN_EACH_LANE _mm512_broadcast_i32x4
#define WIDENED _mm512_zextsi128_si512
#include "packet_fold.h"

#define WIDTH 256
#define FEATURES "avx2,vpclmulqdq,pclmul,sse4.1"
#define REGISTER __m256i
#define LOAD(from) _mm256_loadu_si256(from)
#define STORE(to, value) _mm256_storeu_si256(to, value)
#define PRODUCT _mm256_clmulepi64_epi128
#define SUM(a, b, c) _mm256_xor_si256(_mm256_xor_si256(a, b), c)
#define IN_EACH_LANE _mm256_broadcastsi128_si256
#define WIDENED _mm256_zextsi128_si256
#include "packet_fold.h"

#endif

#define WIDTH 128
#define FEATURES LANE_FEATURES
#define REGISTER lane
#define LOAD lane_loaded
#define STORE lane_stored
#define PRODUCT lane_product
#define SUM(a, b, c) lane_sum(lane_sum(a, b), c)
#define IN_EACH_LANE(pair) (pair)
#define WIDENED(lane) (lane)
#include "packet_fold.h"

static struct heddle_packet_calls usable[3];

#if defined(__x86_64__)

static void prepare(void) {
  struct heddle_packet_calls *next = usable;
  make_table();
  make_constants(by_lane, 128);
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("sse4.1")) return;
  if (__builtin_cpu_supports("vpclmulqdq")) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
      prepare_512();
      *next++ = (struct heddle_packet_calls){seal_512, take_512};
    }
    if (__builtin_cpu_supports("avx2")) {
      prepare_256();
      *next++ = (struct heddle_packet_calls){seal_256, take_256};
    }
  }
  prepare_128();
  *next = (struct heddle_packet_calls){seal_128, take_128};
}

#else

#include "packet_words.h"

#include <asm/hwcap.h>
#include <sys/auxv.h>

static void prepare(void) {
  struct heddle_packet_calls *next = usable;
  unsigned long features = getauxval(AT_HWCAP);
  if ((features & HWCAP_PMULL) != 0) {
    make_table();
    make_constants(by_lane, 128);
    prepare_128();
    *next++ = (struct heddle_packet_calls){seal_128, take_128};
  }
  if ((features & HWCAP_CRC32) != 0) *next = (struct heddle_packet_calls){seal_words, take_words};
}

#endif

struct heddle_packet_calls heddle_packet_calls(int nth) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare);
  return nth < 3 ? usable[nth] : (struct heddle_packet_calls){NULL, NULL};
}

#else

struct heddle_packet_calls heddle_packet_calls(int nth) {
  (void)nth;
  return (struct heddle_packet_calls){NULL, NULL};
}

#endif
