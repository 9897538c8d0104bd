/*
 * A lane, which is 128 bits of a register, and the operations on lanes that packets.c and packet_fold.h use: SSE4.1 and
 * PCLMULQDQ on x86-64, NEON and PMULL on arm64. A lane's first byte in memory is its lowest.
 */
#ifndef PACKET_LANE_H
#define PACKET_LANE_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>

typedef __m128i lane;

#define LANE_FEATURES "pclmul,sse4.1"
#define FOLDING __attribute__((target(LANE_FEATURES)))

static inline lane lane_loaded(const void *from) { return _mm_loadu_si128(from); }

static inline void lane_stored(void *to, lane value) { _mm_storeu_si128(to, value); }

static inline lane lane_of(uint64_t low, uint64_t high) { return _mm_set_epi64x((long long)high, (long long)low); }

static inline lane lane_sum(lane a, lane b) { return _mm_xor_si128(a, b); }

static inline lane lane_shifted_by_4(lane value) { return _mm_slli_si128(value, 4); }

/*
 * Multiplies half of one lane by half of another without carry. The third argument selects the halves: 0x00 both low
 * ones, 0x11 both high ones.
 */
#define lane_product _mm_clmulepi64_si128

#elif defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include <arm_acle.h>
#include <arm_neon.h>

typedef uint64x2_t lane;

#define LANE_FEATURES "+crypto"
#define FOLDING __attribute__((target(LANE_FEATURES)))

static inline lane lane_loaded(const void *from) { return vreinterpretq_u64_u8(vld1q_u8(from)); }

static inline void lane_stored(void *to, lane value) { vst1q_u8(to, vreinterpretq_u8_u64(value)); }

static inline lane lane_of(uint64_t low, uint64_t high) { return vcombine_u64(vcreate_u64(low), vcreate_u64(high)); }

static inline lane lane_sum(lane a, lane b) { return veorq_u64(a, b); }

static inline lane lane_shifted_by_4(lane value) {
  return vreinterpretq_u64_u8(vextq_u8(vdupq_n_u8(0), vreinterpretq_u8_u64(value), 12));
}

FOLDING static inline lane lane_product_of_low(lane a, lane b) {
  return vreinterpretq_u64_p128(vmull_p64((poly64_t)vgetq_lane_u64(a, 0), (poly64_t)vgetq_lane_u64(b, 0)));
}

FOLDING static inline lane lane_product_of_high(lane a, lane b) {
  return vreinterpretq_u64_p128(vmull_high_p64(vreinterpretq_p64_u64(a), vreinterpretq_p64_u64(b)));
}

#define lane_product(a, b, halves) ((halves) == 0 ? lane_product_of_low(a, b) : lane_product_of_high(a, b))

/*
 * Stores a lane so that a reader who sees the last eight bytes of a 128-byte line also sees all earlier bytes of that
 * line. x86-64 stores in order anyway. arm64 needs a barrier, of the outer shareable domain since the reader may be a
 * device.
 */
static inline void lane_stored_in_its_line(uint8_t *to, lane value) {
  unsigned offset = (unsigned)((uintptr_t)to & 127);
  if (offset <= 104) {
    lane_stored(to, value);
    return;
  }
  uint64_t halves[2] = {vgetq_lane_u64(value, 0), vgetq_lane_u64(value, 1)};
  if (offset > 112) __asm__ volatile("dmb oshst" ::: "memory");
  memcpy(to, &halves[0], sizeof halves[0]);
  __asm__ volatile("dmb oshst" ::: "memory");
  memcpy(to + 8, &halves[1], sizeof halves[1]);
}

#endif

#endif
