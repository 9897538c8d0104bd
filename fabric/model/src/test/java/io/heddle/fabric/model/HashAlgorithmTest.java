package io.heddle.fabric.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.heddle.platform.Lookup3;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Test of every hash function against values from independent sources. */
final class HashAlgorithmTest {
  private static final byte[] CHECK = "123456789".getBytes(StandardCharsets.US_ASCII);

  private static int check(HashAlgorithm algorithm, int seed) {
    return algorithm.of(CHECK, CHECK.length, seed);
  }

  /* The values are the check values of the CRC catalogue (reveng.sourceforge.io/crc-catalogue). */
  @Test
  void cyclicCodesHaveTheCataloguesCheckValues() {
    assertEquals(0xbb3d, check(HashAlgorithm.CRC16, 0), "CRC-16/ARC");
    assertEquals(0x4b37, check(HashAlgorithm.CRC16, 0xffff), "CRC-16/MODBUS");
    assertEquals(0x31c3, check(HashAlgorithm.CRC16CC, 0), "CRC-16/XMODEM");
    assertEquals(0x29b1, check(HashAlgorithm.CRC16CC, 0xffff), "CRC-16/IBM-3740");
    assertEquals(0xcbf4, check(HashAlgorithm.CRC32MSB, 0), "CRC-32/ISO-HDLC");
    assertEquals(0x3926, check(HashAlgorithm.CRC32LSB, 0), "CRC-32/ISO-HDLC");
  }

  @Test
  void xorsFoldToTheirNamedWidth() {
    byte[] bytes = HexFormat.of().parseHex("12345678");
    int crc = HashAlgorithm.CRC16.of(bytes, 4, 0) & 0xff00;
    assertEquals(0x1234 ^ 0x5678, HashAlgorithm.XOR16.of(bytes, 4, 0));
    assertEquals(crc | 0x12 ^ 0x34 ^ 0x56 ^ 0x78, HashAlgorithm.XOR8.of(bytes, 4, 0));
    assertEquals(crc | 1 ^ 2 ^ 3 ^ 4 ^ 5 ^ 6 ^ 7 ^ 8, HashAlgorithm.XOR4.of(bytes, 4, 0));
    assertEquals(
        crc | 1 ^ 2 ^ 3 ^ (1 ^ 0) ^ (1 ^ 1) ^ (1 ^ 2) ^ (1 ^ 3) ^ (2 ^ 0),
        HashAlgorithm.XOR2.of(bytes, 4, 0));
    assertEquals(crc | 13 % 2, HashAlgorithm.XOR1.of(bytes, 4, 0), "13 bits are set");
    assertEquals(0x1234, HashAlgorithm.XOR16.of(bytes, 2, 0), "only the first bytes are used");
  }

  @Test
  void everyAlgorithmOfSiliconIsLinear() {
    Random random = new Random(7);
    for (HashAlgorithm algorithm : HashAlgorithm.values()) {
      for (int i = 0; i < 100; i++) {
        byte[] left = new byte[36];
        byte[] right = new byte[36];
        byte[] flipped = new byte[36];
        random.nextBytes(left);
        random.nextBytes(right);
        int seed = random.nextInt();
        int at = random.nextInt(36);
        int bit = 1 << random.nextInt(8);
        int of = algorithm.of(left, 36, seed) ^ algorithm.of(right, 36, seed);
        left[at] ^= (byte) bit;
        right[at] ^= (byte) bit;
        flipped[at] ^= (byte) bit;
        assertEquals(
            of, algorithm.of(left, 36, seed) ^ algorithm.of(right, 36, seed), algorithm.word());
      }
    }
  }

  /* The values are those of Bob Jenkins' own driver5 in lookup3.c. */
  @Test
  void jenkinsHashIsLookup3() {
    byte[] four = "Four score and seven years ago".getBytes(StandardCharsets.US_ASCII);
    assertEquals(0xdeadbeef, Lookup3.hash(new byte[0], 0));
    assertEquals(0xbd5b7dde, Lookup3.hash(new byte[0], 0xdeadbeef));
    assertEquals(0x17770551, Lookup3.hash(four, 0));
    assertEquals(0xcd628161, Lookup3.hash(four, 1));
  }

  /* The value is that of appendix A of the SipHash paper. */
  @Test
  void sipHashHasThePapersValue() {
    byte[] message = new byte[15];
    for (int i = 0; i < message.length; i++) {
      message[i] = (byte) i;
    }
    assertEquals(
        0xa129ca6149be45e5L, LinuxHash.sipHash(message, 0x0706050403020100L, 0x0f0e0d0c0b0a0908L));
  }

  @Test
  void keyHasEightyThreeBitsInThePapersOrder() {
    HashKey key = new HashKey(0xa0a0, 0xa1a1, 0xb0b0, 0xb1b1, 0xf, 0x7f, 0xff);
    assertEquals(0xa0a0_a1a1_b0b0_b1b1L, key.high());
    assertEquals((1 << HashKey.BITS - 64) - 1, key.low());
    HashKey ecmp = key.select(HashModel.ECMP);
    assertEquals(0xb1b1, ecmp.high());
    assertEquals(0, ecmp.low());
    assertEquals(0xb1b1, ecmp.hash(HashAlgorithm.XOR16), "the hash of one part is that part");
    assertEquals(0xa1a1, key.select(HashModel.LINK_AGGREGATION).hash(HashAlgorithm.XOR16));
    HashKey low = new HashKey(0, 0, 0, 0, 0xa, 0x55, 0x3c).select(Set.of(HashKey.Part.LBN));
    assertEquals(0xa << 15, low.low());
    assertThrows(IllegalArgumentException.class, () -> new HashKey(0, 0, 0, 0, 16, 0, 0));
    assertThrows(IllegalArgumentException.class, () -> new HashKey(0x10000, 0, 0, 0, 0, 0, 0));
  }
}
