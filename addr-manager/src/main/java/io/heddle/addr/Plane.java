package io.heddle.addr;

import java.util.Comparator;

/**
 * Disjoint path through the fabric, as this host sees it.
 *
 * @param key this host's name for the plane: {@code colour:<number>}, {@code plane:<value>}, {@code
 *     if:<name>}, {@code subnet:<four hex digits>} or {@code subnet:<IPv4 address>}
 * @param ownKey name that the plane has or would have without a route daemon; equals {@code key} if
 *     no daemon has named the plane
 * @param address the plane's local address
 * @param link the interface that carries the address
 * @param reason reason for this key and this address, as a clause for logs and reports
 */
public record Plane(
    String key, String ownKey, AssignedAddress address, NetworkLink link, String reason) {
  static final String OPERATOR_PREFIX = "plane:";
  static final String INTERFACE_PREFIX = "if:";
  static final String SUBNET_PREFIX = "subnet:";

  /**
   * Order of planes by their keys, which is also the order of the weights in a list. Keys are
   * compared as text, but runs of digits as numbers, so that {@code if:eth10} comes after {@code
   * if:eth9}. Keys of IPv6 subnets have a fixed width and are compared as text only; they come
   * before keys of IPv4 subnets.
   */
  public static final Comparator<String> KEY_ORDER = Plane::compareKeys;

  /** Returns the marks by which this plane is compared with another host's planes. */
  public PlaneMarks marks() {
    return new PlaneMarks(key, ownKey, address.address(), address.prefixLength(), link.name());
  }

  private static int compareKeys(String left, String right) {
    if (left.startsWith(SUBNET_PREFIX) && right.startsWith(SUBNET_PREFIX)) {
      boolean sixFirst = isIpv6(left);
      if (sixFirst != isIpv6(right)) {
        return sixFirst ? -1 : 1;
      }
      if (sixFirst) {
        return left.compareTo(right);
      }
    }
    int i = 0;
    int j = 0;
    while (i < left.length() && j < right.length()) {
      int leftEnd = digitsEnd(left, i);
      int rightEnd = digitsEnd(right, j);
      int order;
      if (leftEnd > i && rightEnd > j) {
        order = compareNumbers(left.substring(i, leftEnd), right.substring(j, rightEnd));
        i = leftEnd;
        j = rightEnd;
      } else {
        order = Character.compare(left.charAt(i++), right.charAt(j++));
      }
      if (order != 0) {
        return order;
      }
    }
    int order = Integer.compare(left.length() - i, right.length() - j);
    /* "01" and "1" are the same number but different keys. */
    return order != 0 ? order : left.compareTo(right);
  }

  private static boolean isIpv6(String subnetKey) {
    return subnetKey.indexOf('.') < 0;
  }

  private static int digitsEnd(String text, int from) {
    int end = from;
    while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
      end++;
    }
    return end;
  }

  private static int compareNumbers(String left, String right) {
    String a = withoutLeadingZeros(left);
    String b = withoutLeadingZeros(right);
    return a.length() != b.length() ? Integer.compare(a.length(), b.length()) : a.compareTo(b);
  }

  private static String withoutLeadingZeros(String digits) {
    int start = 0;
    while (start < digits.length() - 1 && digits.charAt(start) == '0') {
      start++;
    }
    return digits.substring(start);
  }
}
