package io.heddle.addr;

import java.net.InetAddress;

/**
 * The addresses that begin with the same bits.
 *
 * @param address any of them
 * @param lengthBits how many bits count
 */
public record AddressPrefix(InetAddress address, int lengthBits) {
  /**
   * A prefix such as {@code fd00:1::/32}; an address alone is its own prefix.
   *
   * @throws IllegalArgumentException for anything else
   */
  public static AddressPrefix parse(String text) {
    int slash = text.indexOf('/');
    InetAddress address = AddressText.parse(slash < 0 ? text : text.substring(0, slash));
    if (address == null) {
      throw new IllegalArgumentException("\"" + text + "\" has no address");
    }
    int bits = 8 * address.getAddress().length;
    String length = slash < 0 ? Integer.toString(bits) : text.substring(slash + 1);
    if (!length.matches("[0-9]{1,3}") || Integer.parseInt(length) > bits) {
      throw new IllegalArgumentException(
          "the prefix length \"" + length + "\" isn't a number from 0 to " + bits);
    }
    return new AddressPrefix(address, Integer.parseInt(length));
  }

  /** Whether the address begins so; never for the other family. */
  public boolean includes(InetAddress candidate) {
    byte[] a = address.getAddress();
    byte[] b = candidate.getAddress();
    if (a.length != b.length) {
      return false;
    }
    int whole = lengthBits / 8;
    for (int i = 0; i < whole; i++) {
      if (a[i] != b[i]) {
        return false;
      }
    }
    return lengthBits % 8 == 0 || (a[whole] ^ b[whole]) >> (8 - lengthBits % 8) == 0;
  }
}
