/*
 * Checks the rows of packets that the shim builds and accepts, by a bitwise CRC and a comparison of all header fields.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/shim.h"

#define ROOM (4 * 4200 + 256)
#define HEADER 28

static int rounds = 1000;

static uint32_t bitwise_crc32(const uint8_t *bytes, size_t count) {
  uint32_t state = ~0u;
  for (size_t i = 0; i < count; i++) {
    state ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) {
      state = state >> 1 ^ (state & 1 ? 0xedb88320u : 0);
    }
  }
  return ~state;
}

/* Turns a packet's headers into those expected of the next packet, field by field. */
static void expect_headers(uint8_t *header, size_t payload) {
  uint32_t number = ((uint32_t)header[9] << 16 | (uint32_t)header[10] << 8 | header[11]) + 1;
  header[8] = 0;
  header[9] = (uint8_t)(number >> 16);
  header[10] = (uint8_t)(number >> 8);
  header[11] = (uint8_t)number;
  uint64_t address = 0, left = 0;
  for (int i = 0; i < 8; i++) {
    address = address << 8 | header[12 + i];
  }
  for (int i = 0; i < 4; i++) {
    left = left << 8 | header[24 + i];
  }
  address += payload;
  left -= payload;
  for (int i = 0; i < 8; i++) {
    header[19 - i] = (uint8_t)(address >> 8 * i);
  }
  for (int i = 0; i < 4; i++) {
    header[27 - i] = (uint8_t)(left >> 8 * i);
  }
}

static uint8_t from[ROOM], to[ROOM], before[ROOM];

static int make_rows(heddle_critical_call seal) {
  for (int round = 0; round < rounds; round++) {
    size_t payload = 256 * (size_t)(1 + rand() % 16), count = (size_t)(1 + rand() % 4);
    size_t source = (size_t)(rand() % 64), packet = 4 * (size_t)(rand() % 32);
    uint32_t front = (uint32_t)rand();
    for (size_t i = 0; i < ROOM; i++) {
      from[i] = (uint8_t)rand();
      to[i] = before[i] = (uint8_t)rand();
    }
    uint8_t headers[HEADER];
    memcpy(headers, to + packet, HEADER);
    seal((int64_t)(to + packet), (int64_t)count, (int64_t)(from + source), (int64_t)payload, (int64_t)front);
    size_t at = packet;
    for (size_t i = 0; i < count; i++, at += HEADER + payload + 4) {
      if (i > 0) {
        expect_headers(headers, payload);
      }
      uint32_t stored, expected = bitwise_crc32(to + at, HEADER + payload) ^ front;
      memcpy(&stored, to + at + HEADER + payload, sizeof stored);
      bool header_right = memcmp(to + at, headers, HEADER) == 0;
      bool payload_right = memcmp(to + at + HEADER, from + source + i * payload, payload) == 0;
      if (stored != expected || !header_right || !payload_right) {
        fprintf(stderr, "packet %zu of %zu, payload %zu: CRC %08x, expected %08x, headers %s, payload %s\n", i, count,
                payload, stored, expected, header_right ? "right" : "wrong", payload_right ? "right" : "wrong");
        return 1;
      }
    }
    if (memcmp(to, before, packet) != 0 || memcmp(to + at, before + at, ROOM - at) != 0) {
      fprintf(stderr, "%zu packets, payload %zu: wrote outside\n", count, payload);
      return 1;
    }
  }
  return 0;
}

static uint64_t read_number(const uint8_t *at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) {
    value = value << 8 | at[i];
  }
  return value;
}

static void write_number(uint8_t *at, int bytes, uint64_t value) {
  for (int i = bytes - 1; i >= 0; i--, value >>= 8) {
    at[i] = (uint8_t)value;
  }
}

static void seal_slowly(uint8_t *packet, size_t payload, uint32_t front) {
  uint32_t icrc = bitwise_crc32(packet, HEADER + payload) ^ front;
  memcpy(packet + HEADER + payload, &icrc, sizeof icrc);
}

/* Accepts a row as the shim's take does (shim.h), but places the bytes into the array copy instead of the region. */
static int64_t take_slowly(const uint8_t *packet, size_t payload, size_t count, uint32_t front,
                           const struct heddle_row *row, uint8_t *copy) {
  int64_t taken = 0, tag = 0;
  for (; (size_t)taken < count; taken++, packet += HEADER + payload + 4) {
    uint64_t address = read_number(packet + 12, 8), left = read_number(packet + 24, 4);
    uint32_t stored;
    memcpy(&stored, packet + HEADER + payload, sizeof stored);
    if (read_number(packet, 8) != row->first_word ||
        read_number(packet + 9, 3) != ((row->number + (uint64_t)taken) & 0xffffff) ||
        read_number(packet + 20, 4) != (row->key & 0xffffffff) || left > 0x7fffffff || left < payload ||
        address < row->region || address - row->region > row->region_bytes ||
        left > row->region_bytes - (address - row->region) ||
        (bitwise_crc32(packet, HEADER + payload) ^ front) != stored) {
      break;
    }
    memcpy(copy + (address - row->region), packet + HEADER, payload);
    tag = packet[8] & 0x7f ? packet[8] & 0x7f : tag;
    if (packet[8] & 0x80) {
      return (int64_t)1 << 40 | tag << 32 | (taken + 1);
    }
  }
  return tag << 32 | taken;
}

/* Changes the packet, with or without a new CRC. */
static void change(uint8_t *packet, size_t payload, uint32_t front, const struct heddle_row *row) {
  switch (rand() % 12) {
    case 0: packet[(size_t)rand() % (HEADER + payload + 4)] ^= (uint8_t)(1 << rand() % 8); return;
    case 1: packet[HEADER + payload + (size_t)(rand() % 4)] ^= (uint8_t)(1 << rand() % 8); return;
    case 2: packet[rand() % 12] ^= (uint8_t)(1 << rand() % 8); break;
    case 3: write_number(packet + 20, 4, row->key + 1); break;
    case 4: write_number(packet + 12, 8, row->region + row->region_bytes - payload + (uint64_t)(rand() % 3)); break;
    case 5: write_number(packet + 12, 8, row->region - (uint64_t)(rand() % 3)); break;
    case 6: write_number(packet + 24, 4, payload - (uint64_t)(rand() % 3)); break;
    case 7: write_number(packet + 24, 4, row->region_bytes + (uint64_t)(rand() % 3)); break;
    case 8: write_number(packet + 24, 4, 0x80000000u + (uint64_t)(rand() % 3)); break;
    case 9: write_number(packet + 12, 8, (uint64_t)rand() << 40 | (uint64_t)rand()); break;
    case 10: packet[8] ^= 0x80; break;
    default: packet[8] = (uint8_t)(packet[8] & 0x80) | (uint8_t)(rand() % 128); break;
  }
  seal_slowly(packet, payload, front);
}

static int take_rows(heddle_critical_call seal, heddle_critical_call take) {
  static uint8_t region[ROOM], expected[ROOM];
  int64_t whole = 0, broken = 0;
  for (int round = 0; round < rounds; round++) {
    size_t payload = 256 * (size_t)(1 + rand() % 16), count = (size_t)(1 + rand() % 4);
    size_t packet = (size_t)(rand() % 64), at = (size_t)(rand() % 200), stride = HEADER + payload + 4;
    uint32_t front = (uint32_t)rand();
    for (size_t i = 0; i < ROOM; i++) {
      from[i] = (uint8_t)rand();
      region[i] = expected[i] = (uint8_t)rand();
    }
    /* The region is a part of the array, so that the test notices a byte outside it. */
    struct heddle_row row = {.first_word = 0x0a00ffff00000000u | (uint64_t)(rand() & 0xffffff),
                             .number = round % 8 == 0 ? 0xfffffe : (uint64_t)rand(),
                             .key = (uint32_t)rand(),
                             .region = (uint64_t)(uintptr_t)(region + 64),
                             .region_bytes = ROOM - 128};
    write_number(to + packet, 8, row.first_word);
    to[packet + 8] = (uint8_t)(rand() % 128);
    write_number(to + packet + 9, 3, row.number & 0xffffff);
    write_number(to + packet + 12, 8, row.region + at);
    write_number(to + packet + 20, 4, row.key);
    write_number(to + packet + 24, 4, count * payload);
    seal((int64_t)(to + packet), (int64_t)count, (int64_t)from, (int64_t)payload, front);
    if (round % 3 != 0) {
      change(to + packet + (size_t)rand() % count * stride, payload, front, &row);
    }
    int64_t slow = take_slowly(to + packet, payload, count, front, &row, expected + 64);
    int64_t quick = take((int64_t)(to + packet), (int64_t)stride, (int64_t)count, front, (int64_t)&row);
    if (quick != slow || memcmp(region, expected, ROOM) != 0) {
      fprintf(stderr, "%zu packets, payload %zu: accepted %jx, expected %jx, bytes %s\n", count, payload,
              (intmax_t)quick, (intmax_t)slow, memcmp(region, expected, ROOM) == 0 ? "right" : "wrong");
      return 1;
    }
    *((quick & 0xffff) == (int64_t)count ? &whole : &broken) += 1;
  }
  if (whole < rounds / 5 || broken < rounds / 5) {
    fprintf(stderr, "%jd rows were accepted whole and %jd in part: too few to prove anything\n", (intmax_t)whole,
            (intmax_t)broken);
    return 1;
  }
  return 0;
}

/* Usage: packets [rounds [variants]]. The program fails if the processor has fewer variants. */
int main(int count, char **arguments) {
  if (count > 1) rounds = atoi(arguments[1]);
  int wanted = count > 2 ? atoi(arguments[2]) : 0;
  /*
   * 0xcbf43926 is the published check value of CRC-32 for these nine digits, so it proves that the bitwise CRC is
   * correct.
   */
  if (bitwise_crc32((const uint8_t *)"123456789", 9) != 0xcbf43926u) {
    fprintf(stderr, "the bitwise CRC is wrong\n");
    return 1;
  }
  int tried = 0;
  for (struct heddle_packet_calls calls; (calls = heddle_packet_calls(tried)).seal != NULL; tried++) {
    if (make_rows(calls.seal) || take_rows(calls.seal, calls.take)) {
      fprintf(stderr, "with calls %d\n", tried);
      return 1;
    }
  }
  if (tried < wanted) {
    fprintf(stderr, "%d variants of the calls; expected %d\n", tried, wanted);
    return 1;
  }
  if (tried == 0) {
    printf("skipped: this processor has none of the calls' instructions\n");
  } else {
    printf("ok: %d variants of the calls\n", tried);
  }
  return 0;
}
