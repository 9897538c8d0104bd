/*
 * Builds and takes the packets of one RDMA WRITE that are full. To build: copies each one's payload to its place behind the
 * header and puts the invariant CRC behind it, in one pass over the bytes; Java's own way is two: the copy, then the CRC.
 * To take: two passes, since nothing may be placed before its CRC was right, but none of Java's steps between packets.
 * Called from Java by the addresses that jvm_start.c tells it, as short critical calls.
 *
 * CRC-32 by carry-less multiplication, as Intel's paper on it has it (Gopal and others, 2009): a block is folded onto one
 * that lies n bits behind it by multiplying its halves with x^(n+32) and x^(n-32) modulo the polynomial. All values are
 * bit-reflected.
 */
#include "shim.h"

#include <endian.h>
#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>

#define POLYNOMIAL 0xedb88320u
#define BLOCK_BYTES 256 /* four registers */
#define BASE_BYTES 12   /* base transport header */
#define HEADER_BYTES 28 /* and RETH: address, key, length */

static uint32_t table[4][256];
static uint64_t fold_2048[2], fold_512[2], fold_128[2];

/* x^n modulo the polynomial, reflected, one bit to the left. */
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

#define WIDE __attribute__((target("avx512f,avx512vl,avx512dq,vpclmulqdq,pclmul,sse4.1")))

WIDE static inline __m512i folded(__m512i value, __m512i by, __m512i onto) {
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(value, by, 0x00),
                                   _mm512_clmulepi64_epi128(value, by, 0x11), onto, 0x96);
}

WIDE static inline __m128i folded_once(__m128i value) {
  __m128i by = _mm_loadu_si128((const __m128i *)fold_128);
  return _mm_xor_si128(_mm_clmulepi64_si128(value, by, 0x00), _mm_clmulepi64_si128(value, by, 0x11));
}

WIDE static inline __m512i four_times(const uint64_t *pair) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)pair));
}

WIDE static inline __m512i copied(uint8_t *to, const uint8_t *from) {
  __m512i value = _mm512_loadu_si512(from);
  _mm512_storeu_si512(to, value);
  return value;
}

WIDE static inline uint32_t reduced(__m512i a, __m512i b, __m512i c, __m512i d) {
  __m512i by = four_times(fold_512);
  d = folded(folded(folded(a, by, b), by, c), by, d);
  __m128i rest = _mm512_castsi512_si128(d);
  __m128i lanes[3] = {_mm512_extracti32x4_epi32(d, 1), _mm512_extracti32x4_epi32(d, 2), _mm512_extracti32x4_epi32(d, 3)};
  for (int i = 0; i < 3; i++) {
    rest = _mm_xor_si128(folded_once(rest), lanes[i]);
  }
  uint8_t last[16];
  _mm_storeu_si128((__m128i *)last, rest);
  return over_words(0, last, sizeof last);
}

/* The 28 bytes of headers, of which the registers share four. */
struct headers {
  __m128i front, back;
};

/* The first register of the payload with the headers folded onto it, as if four bytes of zeros came before these. */
WIDE static inline __m512i begun(struct headers headers, __m512i first) {
  __m128i front = _mm_slli_si128(_mm_xor_si128(headers.front, _mm_cvtsi32_si128(-1)), 4);
  __m128i back = folded_once(_mm_xor_si128(headers.back, folded_once(front)));
  return _mm512_xor_si512(first, _mm512_zextsi128_si512(back));
}

/* The register behind the headers and count bytes, a multiple of a block and not 0, which are copied. */
WIDE static uint32_t copy(struct headers headers, uint8_t *to, const uint8_t *from, size_t count) {
  __m512i by = four_times(fold_2048);
  __m512i a = begun(headers, copied(to, from));
  __m512i b = copied(to + 64, from + 64), c = copied(to + 128, from + 128), d = copied(to + 192, from + 192);
  for (size_t at = BLOCK_BYTES; at < count; at += BLOCK_BYTES) {
    a = folded(a, by, copied(to + at, from + at));
    b = folded(b, by, copied(to + at + 64, from + at + 64));
    c = folded(c, by, copied(to + at + 128, from + at + 128));
    d = folded(d, by, copied(to + at + 192, from + at + 192));
  }
  return reduced(a, b, c, d);
}

/*
 * The same without the copy. Asks for the cache lines that the bytes will go to meanwhile, which writes nothing: they are
 * the application's, and seldom near.
 */
WIDE static uint32_t check(struct headers headers, const uint8_t *from, size_t count, const uint8_t *place) {
  __m512i by = four_times(fold_2048);
  __m512i a = begun(headers, _mm512_loadu_si512(from));
  __m512i b = _mm512_loadu_si512(from + 64), c = _mm512_loadu_si512(from + 128), d = _mm512_loadu_si512(from + 192);
  for (size_t at = BLOCK_BYTES; at < count; at += BLOCK_BYTES) {
    for (size_t line = 0; line < BLOCK_BYTES; line += 64) __builtin_prefetch(place + at + line, 1);
    a = folded(a, by, _mm512_loadu_si512(from + at));
    b = folded(b, by, _mm512_loadu_si512(from + at + 64));
    c = folded(c, by, _mm512_loadu_si512(from + at + 128));
    d = folded(d, by, _mm512_loadu_si512(from + at + 192));
  }
  return reduced(a, b, c, d);
}

WIDE static void place(uint8_t *to, const uint8_t *from, size_t count) {
  for (size_t at = 0; at < count; at += 64) _mm512_storeu_si512(to + at, _mm512_loadu_si512(from + at));
}

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

WIDE static inline struct headers loaded(const uint8_t *packet) {
  return (struct headers){_mm_loadu_si128((const __m128i *)packet),
                          _mm_loadu_si128((const __m128i *)(packet + HEADER_BYTES - 16))};
}

static long long swapped(uint64_t value) { return (long long)htobe64(value); }

/*
 * Each packet behind the first has the next number, no request and no tag, the next address, and less that is left. Its
 * headers are put together in registers: read from where they were just stored in parts, they would come late.
 */
WIDE static int64_t seal(int64_t packet, int64_t count, int64_t payload, int64_t payload_bytes, int64_t front) {
  uint8_t *to = (uint8_t *)packet;
  const uint8_t *from = (const uint8_t *)payload;
  size_t bytes = (size_t)payload_bytes, whole = HEADER_BYTES + bytes + sizeof(uint32_t);
  uint64_t first_word = load64(to), address = load64(to + BASE_BYTES), key = load32(to + 20);
  uint32_t number = load32(to + 8), left = load32(to + 24);
  struct headers headers = loaded(to);
  for (int64_t i = 0; i < count; i++, to += whole, from += bytes) {
    if (i > 0) {
      number = (number + 1) & 0xffffff;
      address += bytes;
      left -= (uint32_t)bytes;
      headers.front = _mm_set_epi64x(swapped((uint64_t)number << 32 | address >> 32), swapped(first_word));
      headers.back = _mm_set_epi64x(swapped(key << 32 | left), swapped(address));
      _mm_storeu_si128((__m128i *)to, headers.front);
      _mm_storeu_si128((__m128i *)(to + HEADER_BYTES - 16), headers.back);
    }
    uint32_t icrc = ~copy(headers, to + HEADER_BYTES, from, bytes) ^ (uint32_t)front;
    memcpy(to + HEADER_BYTES + bytes, &icrc, sizeof icrc);
  }
  return 0;
}

/* Whether a packet with these headers is the next one of the row, and may go where it says. */
static bool is_next(const uint8_t *packet, const struct heddle_row *row, uint32_t number, size_t bytes) {
  uint64_t offset = load64(packet + BASE_BYTES) - row->region, left = load32(packet + 24);
  return load64(packet) == row->first_word && (load32(packet + 8) & 0xffffff) == (number & 0xffffff) &&
         load32(packet + 20) == (uint32_t)row->key && left <= INT32_MAX && left >= bytes && offset <= row->region_bytes &&
         left <= row->region_bytes - offset;
}

WIDE static int64_t take(int64_t packet, int64_t stride, int64_t count, int64_t front, int64_t expected) {
  const struct heddle_row *row = (const struct heddle_row *)expected;
  const uint8_t *from = (const uint8_t *)packet;
  size_t bytes = (size_t)stride - HEADER_BYTES - sizeof(uint32_t);
  int64_t taken = 0, tag = 0, asked = 0;
  for (; taken < count && !asked; taken++, from += stride) {
    if (!is_next(from, row, (uint32_t)(row->number + (uint64_t)taken), bytes)) break;
    uint8_t *to = (uint8_t *)(uintptr_t)load64(from + BASE_BYTES);
    uint32_t stored, icrc = ~check(loaded(from), from + HEADER_BYTES, bytes, to) ^ (uint32_t)front;
    memcpy(&stored, from + HEADER_BYTES + bytes, sizeof stored);
    if (icrc != stored) break;
    place(to, from + HEADER_BYTES, bytes);
    asked = from[8] >> 7;
    if (from[8] & 0x7f) tag = from[8] & 0x7f;
  }
  return asked << 40 | tag << 32 | taken;
}

static bool is_ready(void) {
  static bool made;
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("vpclmulqdq") || !__builtin_cpu_supports("pclmul")) {
    return false;
  }
  if (made) return true;
  for (unsigned i = 0; i < 256; i++) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? POLYNOMIAL : 0);
    table[0][i] = value;
  }
  for (unsigned i = 0; i < 256; i++) {
    for (int row = 1; row < 4; row++) table[row][i] = table[row - 1][i] >> 8 ^ table[0][table[row - 1][i] & 255];
  }
  make_constants(fold_2048, 2048);
  make_constants(fold_512, 512);
  make_constants(fold_128, 128);
  made = true;
  return true;
}

heddle_packet_call heddle_packet_seal(void) { return is_ready() ? seal : NULL; }

heddle_packet_call heddle_packet_take(void) { return is_ready() ? take : NULL; }

#else

heddle_packet_call heddle_packet_seal(void) { return NULL; }

heddle_packet_call heddle_packet_take(void) { return NULL; }

#endif
