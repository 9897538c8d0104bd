package io.heddle.platform;

/** Formatter of IPv6 addresses in the canonical text form of RFC 5952. */
public final class Ipv6Text {
  private static final int GROUPS = 8;

  private Ipv6Text() {}

  /** Returns the text of an address of sixteen bytes. */
  public static String of(byte[] raw) {
    int[] groups = new int[GROUPS];
    for (int i = 0; i < GROUPS; i++) {
      groups[i] = (raw[2 * i] & 0xff) << 8 | raw[2 * i + 1] & 0xff;
    }
    int gapStart = -1;
    int gapLength = 1;
    for (int i = 0; i < GROUPS; i++) {
      int end = i;
      while (end < GROUPS && groups[end] == 0) {
        end++;
      }
      if (end - i > gapLength) {
        gapStart = i;
        gapLength = end - i;
      }
      i = Math.max(i, end);
    }
    StringBuilder text = new StringBuilder(39);
    for (int i = 0; i < GROUPS; i++) {
      if (i == gapStart) {
        text.append("::");
        i += gapLength - 1;
      } else {
        if (!text.isEmpty() && text.charAt(text.length() - 1) != ':') {
          text.append(':');
        }
        text.append(Integer.toHexString(groups[i]));
      }
    }
    return text.toString();
  }
}
