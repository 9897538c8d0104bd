package io.heddle.bridge.group;

import io.heddle.verbs.Gid;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Hash table of groups by address: open addressing, at most half full. Immutable: the data thread
 * looks groups up in one table while another thread builds the next.
 *
 * @param <T> type of the values, one for each group
 */
public final class GroupTable<T> {
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private final long[] high;
  private final long[] low;
  private final @Nullable Object[] values;
  private final int mask;

  public GroupTable(Map<Gid, T> groups) {
    int size = Integer.highestOneBit(Math.max(4, groups.size() * 4 - 1));
    mask = size - 1;
    high = new long[size];
    low = new long[size];
    values = new Object[size];
    groups.forEach((address, value) -> {
      int at = place(address.high(), address.low());
      while (values[at] != null) {
        at = at + 1 & mask;
      }
      high[at] = address.high();
      low[at] = address.low();
      values[at] = value;
    });
  }

  private int place(long addressHigh, long addressLow) {
    long mixed = (addressHigh * MIX ^ addressLow) * MIX;
    return (int) (mixed >>> 32) & mask;
  }

  /** Returns the value of the group with this address; null if the table has no such group. */
  @SuppressWarnings("unchecked")
  public @Nullable T find(long addressHigh, long addressLow) {
    int at = place(addressHigh, addressLow);
    while (values[at] != null) {
      if (low[at] == addressLow && high[at] == addressHigh) {
        return (T) values[at];
      }
      at = at + 1 & mask;
    }
    return null;
  }
}
