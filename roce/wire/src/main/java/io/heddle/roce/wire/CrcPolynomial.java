package io.heddle.roce.wire;

/**
 * Arithmetic of CRC-32 remainders: polynomials over GF(2) of degree below 32, reflected, so that
 * bit 31 of the {@code int} is x^0. A message's CRC is affine in its bits, so its parts can be
 * computed separately, shifted and combined.
 */
final class CrcPolynomial {
  /** CRC of a byte of ones XOR the CRC of a zero byte. */
  static final int ONES = 0x2D02EF8D;

  /** CRC of a byte with the data mark XOR the CRC of a zero byte. */
  static final int DATA_MARK = ofByte(PacketFormat.DATA_MARK);

  private static final int POLYNOMIAL = 0xEDB88320;

  /* The polynomial is primitive: x^(2^32 − 1) is 1. */
  private static final long ORDER = 0xffff_ffffL;

  private CrcPolynomial() {}

  private static int ofByte(int value) {
    int sum = value;
    for (int bit = 0; bit < 8; bit++) {
      sum = (sum & 1) != 0 ? sum >>> 1 ^ POLYNOMIAL : sum >>> 1;
    }
    return sum;
  }

  /** Returns a · b modulo the polynomial. */
  static int multiply(int a, int b) {
    int product = 0;
    int shifted = b;
    for (int mask = 1 << 31; mask != 0; mask >>>= 1) {
      if ((a & mask) != 0) {
        product ^= shifted;
      }
      shifted = (shifted & 1) != 0 ? shifted >>> 1 ^ POLYNOMIAL : shifted >>> 1;
    }
    return product;
  }

  /** Returns x^(8n), by which a remainder is multiplied when n bytes are appended. */
  static int powerOfX8(int n) {
    return power(1 << 23, n);
  }

  /** Returns x^(−8n), by which a remainder is multiplied when the last n bytes are removed. */
  static int inverseOfX8(int n) {
    return power(1 << 30, ORDER - 8L * n % ORDER);
  }

  private static int power(int base, long exponent) {
    int result = 1 << 31;
    int square = base;
    for (long left = exponent; left != 0; left >>>= 1) {
      if ((left & 1) != 0) {
        result = multiply(square, result);
      }
      square = multiply(square, square);
    }
    return result;
  }
}
