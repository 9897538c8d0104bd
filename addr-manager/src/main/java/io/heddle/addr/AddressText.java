package io.heddle.addr;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** IP addresses as people write them, and their order. Never asks a name server. */
public final class AddressText {
  /** IPv4 before IPv6, then by bytes as unsigned numbers. */
  public static final Comparator<InetAddress> ORDER =
      (left, right) -> compare(left.getAddress(), right.getAddress());

  private AddressText() {}

  private static int compare(byte[] left, byte[] right) {
    int longer = Integer.compare(left.length, right.length);
    return longer != 0 ? longer : Arrays.compareUnsigned(left, right);
  }

  /** IPv6 in the canonical form of RFC 5952, without a zone; IPv4 as dotted quad. */
  public static String of(InetAddress address) {
    if (!(address instanceof Inet6Address)) {
      return address.getHostAddress();
    }
    byte[] raw = address.getAddress();
    int[] groups = new int[8];
    for (int i = 0; i < 8; i++) {
      groups[i] = (raw[2 * i] & 0xff) << 8 | raw[2 * i + 1] & 0xff;
    }
    int gapStart = -1;
    int gapLength = 1;
    for (int i = 0; i < 8; i++) {
      int end = i;
      while (end < 8 && groups[end] == 0) {
        end++;
      }
      if (end - i > gapLength) {
        gapStart = i;
        gapLength = end - i;
      }
      i = Math.max(i, end);
    }
    StringBuilder text = new StringBuilder(39);
    for (int i = 0; i < 8; i++) {
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

  /**
   * The address that the text spells in full, or null where it is something else; a zone is not
   * allowed.
   */
  public static @Nullable InetAddress parse(String text) {
    boolean v6 = text.indexOf(':') >= 0;
    if (text.indexOf('%') >= 0
        || text.indexOf('[') >= 0
        || !v6 && !text.matches("[0-9]+(\\.[0-9]+){3}")) {
      return null;
    }
    try {
      return v6 ? Inet6Address.ofLiteral(text) : Inet4Address.ofLiteral(text);
    } catch (IllegalArgumentException notAnAddress) {
      return null;
    }
  }

  static InetAddress ofBytes(byte[] raw) {
    try {
      return InetAddress.getByAddress(raw);
    } catch (UnknownHostException badLength) {
      throw new IllegalArgumentException(raw.length + " bytes aren't an address", badLength);
    }
  }
}
