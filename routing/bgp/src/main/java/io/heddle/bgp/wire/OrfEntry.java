package io.heddle.bgp.wire;

/**
 * Entry of an address prefix filter, which the peer applies to the routes that it sends us (RFC
 * 5291 §4, RFC 5292 §2).
 *
 * <pre>
 * action and match 1 | sequence 4 | min length 1 | max length 1 | length 1 | prefix
 * action REMOVE-ALL: the first octet alone
 * </pre>
 *
 * @param deny whether a match blocks routes
 * @param sequence order of entries; an entry replaces one with the same number
 * @param minLength shortest prefix length that matches; if this and {@code maxLength} are 0, only
 *     the prefix itself matches
 */
public record OrfEntry(
    Action action, boolean deny, long sequence, int minLength, int maxLength, Prefix prefix) {
  /** Change of the filter by this entry. */
  public enum Action {
    ADD,
    REMOVE,
    REMOVE_ALL
  }

  static final int ACTION_SHIFT = 6;
  static final int DENY_FLAG = 0x20;
  static final int FIXED_BYTES = 8;

  /** Number of entries for host routes that fill a message of 4096 bytes. */
  public static final int HOSTS_PER_MESSAGE = 169;

  public static OrfEntry permit(long sequence, Prefix prefix) {
    return new OrfEntry(Action.ADD, false, sequence, 0, 0, prefix);
  }

  public static OrfEntry deny(long sequence, Prefix prefix) {
    return new OrfEntry(Action.ADD, true, sequence, 0, 0, prefix);
  }

  public static OrfEntry removeAll() {
    return new OrfEntry(Action.REMOVE_ALL, false, 0, 0, 0, Prefix.DEFAULT_ROUTE);
  }

  int wireBytes() {
    return action == Action.REMOVE_ALL ? 1 : FIXED_BYTES + (prefix.shownLength() + 7 >>> 3);
  }
}
