package io.heddle.fabric.model;

import java.util.Locale;
import java.util.Set;

/**
 * The 83-bit key of a switch's load sharing (H3C's "SprayLink Technology White Paper", figure 5),
 * most significant bits first:
 *
 * <pre>
 * | hash A0 16 | hash A1 16 | hash B0 16 | hash B1 16 | LBN 4 | destination port 7 | LBID 8 |
 * </pre>
 *
 * @param a0 first hash of block A, 16 bits; link aggregation uses block A
 * @param a1 second hash of block A, 16 bits
 * @param b0 first hash of block B, 16 bits; ECMP uses block B
 * @param b1 second hash of block B, 16 bits
 * @param lbn the load balance number of the ingress port, 4 bits
 * @param port the destination port inside the switch, 7 bits
 * @param lbid the load balance identifier, 8 bits
 */
public record HashKey(int a0, int a1, int b0, int b1, int lbn, int port, int lbid) {
  /** Size of the key in bits. */
  public static final int BITS = 83;

  private static final int BYTES = 11;

  /** Part of the key that a group may select. */
  public enum Part {
    A0,
    A1,
    B0,
    B1,
    LBN,
    PORT,
    LBID;

    /** Returns the name of the part in files. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public HashKey {
    if ((a0 | a1 | b0 | b1) >>> 16 != 0 || lbn >>> 4 != 0 || port >>> 7 != 0 || lbid >>> 8 != 0) {
      throw new IllegalArgumentException("a part of the hash key has more bits than its field");
    }
  }

  /** Returns the key with zeros in the parts that aren't selected. */
  public HashKey select(Set<Part> parts) {
    return new HashKey(
        parts.contains(Part.A0) ? a0 : 0,
        parts.contains(Part.A1) ? a1 : 0,
        parts.contains(Part.B0) ? b0 : 0,
        parts.contains(Part.B1) ? b1 : 0,
        parts.contains(Part.LBN) ? lbn : 0,
        parts.contains(Part.PORT) ? port : 0,
        parts.contains(Part.LBID) ? lbid : 0);
  }

  /** Returns the upper 64 bits of the key: the hashes A0, A1, B0 and B1. */
  public long high() {
    return (long) a0 << 48 | (long) a1 << 32 | (long) b0 << 16 | b1;
  }

  /** Returns the lower 19 bits of the key: LBN, destination port and LBID. */
  public int low() {
    return lbn << 15 | port << 8 | lbid;
  }

  /**
   * Returns the hash of the key. The four hashes are hashed as words of 16 bits. The last 19 bits
   * follow as three bytes, whose first five bits are zero.
   */
  public int hash(HashAlgorithm algorithm) {
    byte[] bytes = new byte[BYTES];
    for (int i = 0; i < 8; i++) {
      bytes[i] = (byte) (high() >>> 56 - 8 * i);
    }
    for (int i = 0; i < 3; i++) {
      bytes[8 + i] = (byte) (low() >>> 16 - 8 * i);
    }
    return algorithm.of(bytes, BYTES, 0);
  }
}
