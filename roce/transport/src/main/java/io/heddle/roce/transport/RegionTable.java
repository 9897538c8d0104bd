package io.heddle.roce.transport;

import java.util.Arrays;

/**
 * Table of registered memory by key.
 *
 * <p>A key is {@code generation 14 | index 18}: the index is the row; the generation invalidates
 * the key of a closed region whose row is reused. Every method runs under the progress lock.
 */
public final class RegionTable {
  public static final int LOCAL_WRITE = 1;
  public static final int REMOTE_WRITE = 2;
  public static final int REMOTE_READ = 4;

  private static final int INDEX_BITS = 18;
  private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
  private static final int GENERATION_STEP = 1 << INDEX_BITS;

  private long[] addresses = new long[64];
  private long[] lengths = new long[64];
  private int[] keys = new int[64];
  private int[] domains = new int[64];
  private int[] rights = new int[64];
  private int[] free = new int[64];
  private int freeCount;
  private int used = 1; /* row 0 stays empty, so that key 0 is never valid */

  public RegionTable(int firstGeneration) {
    Arrays.fill(keys, firstGeneration << INDEX_BITS);
  }

  /**
   * Adds a region.
   *
   * @return key, or 0 when the table is full
   */
  public int add(long address, long lengthBytes, int domain, int accessRights) {
    int row;
    if (freeCount > 0) {
      row = free[--freeCount];
    } else if (used <= INDEX_MASK) {
      row = used++;
      if (row == keys.length) {
        grow();
      }
    } else {
      return 0;
    }
    addresses[row] = address;
    lengths[row] = lengthBytes;
    domains[row] = domain;
    rights[row] = accessRights;
    keys[row] = keys[row] & ~INDEX_MASK | row;
    return keys[row];
  }

  private void grow() {
    int old = keys.length;
    int size = old * 2;
    addresses = Arrays.copyOf(addresses, size);
    lengths = Arrays.copyOf(lengths, size);
    keys = Arrays.copyOf(keys, size);
    domains = Arrays.copyOf(domains, size);
    rights = Arrays.copyOf(rights, size);
    free = Arrays.copyOf(free, size);
    Arrays.fill(keys, old, size, keys[0]);
  }

  public void remove(int key) {
    int row = key & INDEX_MASK;
    if (keys[row] != key || domains[row] == 0) {
      throw new IllegalStateException("no region has key 0x" + Integer.toHexString(key));
    }
    domains[row] = 0;
    lengths[row] = 0;
    /* The row's next region gets another generation; add() sets the row bits. */
    keys[row] = (key & ~INDEX_MASK) + GENERATION_STEP;
    free[freeCount++] = row;
  }

  /** Returns the row of the region with this key, domain and rights, or −1 if there is none. */
  int find(int key, int domain, int neededRights) {
    int row = key & INDEX_MASK;
    return row >= used
            || keys[row] != key
            || domains[row] != domain
            || (rights[row] & neededRights) != neededRights
        ? -1
        : row;
  }

  long address(int row) {
    return addresses[row];
  }

  long lengthBytes(int row) {
    return lengths[row];
  }

  /** Returns whether this key has these rights in this domain to the whole range. */
  boolean allows(int key, int domain, int neededRights, long address, long lengthBytes) {
    int row = find(key, domain, neededRights);
    if (row < 0) {
      return false;
    }
    long offset = address - addresses[row];
    /* An address below the region gives a negative offset, which is refused. */
    return lengthBytes >= 0
        && offset >= 0
        && offset <= lengths[row]
        && lengthBytes <= lengths[row] - offset;
  }
}
