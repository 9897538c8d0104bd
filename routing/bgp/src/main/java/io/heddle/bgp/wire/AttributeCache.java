package io.heddle.bgp.wire;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Cache of decoded attributes, by their encoded bytes. A feed with one route per UPDATE then
 * decodes each set of attributes once, and its routes share one object. The size is fixed, so a
 * peer can't make it grow: each set has four possible slots, which are replaced in turn. With one
 * slot, a tenth of a feed's 391 sets evicted each other; decoding them again took an eighth of the
 * daemon's time.
 */
final class AttributeCache {
  private static final int SLOTS = 4096;
  private static final int WAYS = 4;
  private static final int LONGEST = 512;

  private final byte[] @Nullable [] keys = new byte[SLOTS][];
  private final AttributeDecoder.@Nullable Result[] results = new AttributeDecoder.Result[SLOTS];

  private int evictions;

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
    int slot = first + (evictions++ & WAYS - 1);
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
