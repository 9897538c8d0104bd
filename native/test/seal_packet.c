/* Packets that the shim seals, against the CRC taken bit by bit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/shim.h"

#define ROUNDS 1000
#define ROOM (4 * 4200 + 256)
#define HEADER 28

static uint32_t bit_by_bit(const uint8_t *bytes, size_t count) {
  uint32_t state = ~0u;
  for (size_t i = 0; i < count; i++) {
    state ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) {
      state = state >> 1 ^ (state & 1 ? 0xedb88320u : 0);
    }
  }
  return ~state;
}

/* Headers of the packet behind this one, written field by field. */
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

int main(void) {
  heddle_seal_packet seal = heddle_packet_seal();
  if (seal == NULL) {
    printf("skipped: this processor lacks VPCLMULQDQ or AVX-512\n");
    return 0;
  }
  static uint8_t from[ROOM], to[ROOM], before[ROOM];
  /* The check value of CRC-32 is of the nine digits; it tells that the slow way is the standard's. */
  if (bit_by_bit((const uint8_t *)"123456789", 9) != 0xcbf43926u) {
    fprintf(stderr, "the CRC taken bit by bit is wrong\n");
    return 1;
  }
  for (int round = 0; round < ROUNDS; round++) {
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
      uint32_t stored, expected = bit_by_bit(to + at, HEADER + payload) ^ front;
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
