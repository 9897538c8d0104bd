package io.heddle.fabric.model;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Published hash functions of merchant switch silicon, under the names of Dell OS9's {@code
 * hash-algorithm}. Each returns 16 bits and is linear: a flipped input bit flips the same output
 * bits, independent of the other bits. The seed is the initial value of a CRC, or is folded into an
 * XOR.
 *
 * <p>How the silicon folds its fields before it hashes them isn't published. These functions take
 * the fields in network byte order, in bins of 16 bits.
 */
public enum HashAlgorithm {
  /** CRC16-BISYNC: polynomial 0x8005, bits reflected (CRC-16/ARC with seed 0). */
  CRC16,
  /** CRC16-CCITT: polynomial 0x1021 (CRC-16/XMODEM with seed 0, CRC-16/IBM-3740 with 0xFFFF). */
  CRC16CC,
  /** The upper 16 bits of CRC-32 (ISO-HDLC with seed 0). */
  CRC32MSB,
  /** The lower 16 bits of CRC-32. */
  CRC32LSB,
  /** Upper byte: that of CRC16-BISYNC. Lower byte: the parity of all input bits, 0 or 1. */
  XOR1,
  /**
   * Upper byte: that of CRC16-BISYNC. Lower byte: the XOR of all 2-bit groups of the input, 0 to 3.
   */
  XOR2,
  /**
   * Upper byte: that of CRC16-BISYNC. Lower byte: the XOR of all 4-bit groups of the input, 0 to
   * 15.
   */
  XOR4,
  /** Upper byte: that of CRC16-BISYNC. Lower byte: the XOR of all input bytes. */
  XOR8,
  /** The XOR of all 16-bit words of the input. */
  XOR16;

  private static final int BITS = 0xffff;

  /** Returns the algorithm's name, as files, tables and Dell's command line spell it. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace("msb", "MSB").replace("lsb", "LSB");
  }

  /** Returns the names of all algorithms, in the order of the constants. */
  public static List<String> words() {
    return Arrays.stream(values()).map(HashAlgorithm::word).toList();
  }

  /**
   * Returns the hash of an array's first bytes.
   *
   * @param seed seed, of which the algorithm uses as many low bits as its register has
   * @return hash of 16 bits
   */
  public int of(byte[] bytes, int length, int seed) {
    return switch (this) {
      case CRC16 -> reflected(bytes, length, 0xa001, seed & BITS);
      case CRC16CC -> ccitt(bytes, length, seed & BITS);
      case CRC32MSB -> ~reflected(bytes, length, 0xedb88320, ~seed) >>> 16;
      case CRC32LSB -> ~reflected(bytes, length, 0xedb88320, ~seed) & BITS;
      case XOR1 -> xorWithCrc(bytes, length, seed, 1);
      case XOR2 -> xorWithCrc(bytes, length, seed, 2);
      case XOR4 -> xorWithCrc(bytes, length, seed, 4);
      case XOR8 -> xorWithCrc(bytes, length, seed, 8);
      case XOR16 -> (words(bytes, length) ^ seed) & BITS;
    };
  }

  /* Returns a bit-reflected CRC, whose register is shifted right. */
  private static int reflected(byte[] bytes, int length, int polynomial, int register) {
    int crc = register;
    for (int i = 0; i < length; i++) {
      crc ^= bytes[i] & 0xff;
      for (int bit = 0; bit < 8; bit++) {
        crc = crc >>> 1 ^ (-(crc & 1) & polynomial);
      }
    }
    return crc;
  }

  private static int ccitt(byte[] bytes, int length, int register) {
    int crc = register;
    for (int i = 0; i < length; i++) {
      crc ^= (bytes[i] & 0xff) << 8;
      for (int bit = 0; bit < 8; bit++) {
        crc = crc << 1 ^ (-(crc >> 15 & 1) & 0x1021);
      }
    }
    return crc & BITS;
  }

  private static int xorWithCrc(byte[] bytes, int length, int seed, int width) {
    int folded = words(bytes, length) ^ seed & BITS;
    for (int half = 8; half >= width; half >>= 1) {
      folded = (folded ^ folded >>> half) & (1 << half) - 1;
    }
    return reflected(bytes, length, 0xa001, seed & BITS) & 0xff00 | folded;
  }

  /* Returns the XOR of all 16-bit words. An odd last byte is the upper byte of its word. */
  private static int words(byte[] bytes, int length) {
    int word = 0;
    for (int i = 0; i < length; i++) {
      word ^= (bytes[i] & 0xff) << (i % 2 == 0 ? 8 : 0);
    }
    return word;
  }
}
