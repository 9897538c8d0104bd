package io.heddle.bgp.net;

/**
 * TCP options of a BGP connection.
 *
 * @param minHopLimit packets with a lower hop limit are dropped (RFC 5082); 0 for no check, 255 for
 *     a peer on the link
 * @param md5Key key of RFC 2385, at most 80 bytes; empty for none
 * @param device interface that the connection must use; empty for any
 * @param userTimeoutMs time after which unacknowledged data ends the connection
 */
public record TcpOptions(int minHopLimit, byte[] md5Key, String device, int userTimeoutMs) {
  public static final int LONGEST_KEY = 80;
  public static final TcpOptions NONE = new TcpOptions(0, new byte[0], "", 0);

  /**
   * @throws IllegalArgumentException for a hop limit above 255 or a key of more than 80 bytes
   */
  public TcpOptions {
    if (minHopLimit < 0 || minHopLimit > 255) {
      throw new IllegalArgumentException("a hop limit is 0 to 255, not " + minHopLimit);
    }
    if (md5Key.length > LONGEST_KEY) {
      throw new IllegalArgumentException(
          "a TCP-MD5 key has at most 80 bytes, this one " + md5Key.length);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TcpOptions that
        && minHopLimit == that.minHopLimit
        && java.util.Arrays.equals(md5Key, that.md5Key)
        && device.equals(that.device)
        && userTimeoutMs == that.userTimeoutMs;
  }

  @Override
  public int hashCode() {
    return 31 * device.hashCode() + minHopLimit;
  }

  /** Returns the options as text, without the key. */
  @Override
  public String toString() {
    return "min hop limit " + minHopLimit + (md5Key.length > 0 ? ", MD5" : "") + " " + device;
  }
}
