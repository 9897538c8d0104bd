package io.heddle.bridge.unicast;

import io.heddle.bridge.multicast.LoopRules.Prefix;
import io.heddle.platform.HeddleException;
import java.util.List;

/** Check that no prefix of one fabric overlaps a prefix of the other. */
public final class PrefixOverlap {
  private PrefixOverlap() {}

  /**
   * Rejects overlapping prefixes: a unicast packet whose addresses belong to both fabrics could
   * loop.
   *
   * @param messageStart start of the error message, such as a file's name; may be empty
   * @throws HeddleException if two prefixes overlap; the message contains both
   */
  public static void refuse(String messageStart, List<Prefix> a, List<Prefix> b) {
    for (Prefix one : a) {
      for (Prefix other : b) {
        if (overlap(one, other)) {
          throw new HeddleException(
              messageStart
                  + "unicast needs fabrics whose hosts have different addresses, and "
                  + one
                  + " of a and "
                  + other
                  + " of b overlap; set others by prefix, or remove [unicast]");
        }
      }
    }
  }

  private static boolean overlap(Prefix one, Prefix other) {
    int bits = Math.min(one.bits(), other.bits());
    long high = one.address().high() ^ other.address().high();
    long low = one.address().low() ^ other.address().low();
    if (bits <= Long.SIZE) {
      return bits == 0 || high >>> Long.SIZE - bits == 0;
    }
    return high == 0 && low >>> 2 * Long.SIZE - bits == 0;
  }
}
