package io.heddle.bgp.wire;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Attributes by the bytes that they came in, so that a feed with one route an UPDATE decodes each
 * set once, and its routes share one object. Forgets by collision: what a peer sends can't make it
 * grow. A set of attributes has four slots to choose from, taken in turn: with one alone, of a feed
 * with 391 sets a tenth pushed each other out, and to read and compare those again took an eighth
 * of the daemon's time.
 */
final class AttributeCache {
  private static final int SLOTS = 4096;
  private static final int WAYS = 4;
  private static final int LONGEST = 512;

  private final byte[] @Nullable [] keys = new byte[SLOTS][];
  private final AttributeDecoder.@Nullable Result[] results = new AttributeDecoder.Result[SLOTS];

  private int turn;

  AttributeDecoder.Result find(byte[] bytes, int length, WireOptions options) {
    if (length > LONGEST) {
      return new AttributeDecoder(options, bytes).decode(length);
    }
    int first = hash(bytes, length) & SLOTS - WAYS;
    for (int slot = first; slot < first + WAYS; slot++) {
      byte[] key = keys[slot];
      AttributeDecoder.Result known = results[slot];
      if (known != null && key != null && Arrays.equals(key, 0, key.length, bytes, 0, length)) {
        return known;
      }
    }
    AttributeDecoder.Result result = new AttributeDecoder(options, bytes).decode(length);
    int slot = first + (turn++ & WAYS - 1);
    keys[slot] = Arrays.copyOf(bytes, length);
    results[slot] = result;
    return result;
  }

  private static int hash(byte[] bytes, int length) {
    long hash = length;
    int at = 0;
    for (; at + 8 <= length; at += 8) {
      hash = (hash ^ WireBytes.i64(bytes, at)) * 0x9e37_79b9_7f4a_7c15L;
      hash ^= hash >>> 29;
    }
    hash = (hash ^ WireBytes.upperBytes(bytes, at, length - at)) * 0x9e37_79b9_7f4a_7c15L;
    return (int) (hash >>> 40);
  }
}
