package io.heddle.fabric.model;

/**
 * Group of equal links, numbered from 0.
 *
 * @param members number of links, 1 to 1024
 */
public record EcmpGroup(int members) {
  /** Largest number of members. The mask in the formula of {@link #offset} limits it. */
  public static final int MOST = 0x400;

  private static final int HASH_BITS = 0xffff;

  public EcmpGroup {
    if (members < 1 || members > MOST) {
      throw new IllegalArgumentException(members + " members; a group has 1 to " + MOST);
    }
  }

  /**
   * Returns the member that a hash selects: {@code ((hash & 65535) % (size + 1)) & 0x3FF} (H3C's
   * white paper). In the paper, size is the number of members, but then the result could exceed the
   * last member. So here size is the number of members minus 1, as in the silicon's field for the
   * size.
   */
  public int offset(int hash) {
    int size = members - 1;
    return (hash & HASH_BITS) % (size + 1) & MOST - 1;
  }
}
