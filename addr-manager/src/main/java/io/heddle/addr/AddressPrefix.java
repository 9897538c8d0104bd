package io.heddle.addr;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Set of the addresses that begin with the same bits.
 *
 * @param address any address of the set
 * @param lengthBits number of the common bits
 */
public record AddressPrefix(InetAddress address, int lengthBits) {
  /**
   * Parses a prefix such as {@code fd00:1::/32}; an address without a length is a prefix of its
   * full length.
   *
   * @throws IllegalArgumentException if the text is no prefix
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

  /** Returns whether the prefix includes the address; false if their families differ. */
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

  /** Returns whether the prefix consists of one address. */
  boolean isWholeAddress() {
    return lengthBits == 8 * address.getAddress().length;
  }

  /** Returns the prefix's own address: its bits, followed by zeros. */
  InetAddress first() {
    return with(new byte[address.getAddress().length]);
  }

  /**
   * Returns the address in this prefix that ends in the same bits as another address.
   *
   * @param other an address of the same family
   */
  public InetAddress with(InetAddress other) {
    return with(other.getAddress());
  }

  private InetAddress with(byte[] ending) {
    byte[] raw = address.getAddress();
    for (int bit = lengthBits; bit < 8 * raw.length; bit++) {
      int one = 0x80 >> bit % 8;
      raw[bit / 8] = (byte) (raw[bit / 8] & ~one | ending[bit / 8] & one);
    }
    try {
      return InetAddress.getByAddress(raw);
    } catch (UnknownHostException impossible) {
      throw new AssertionError("an address as long as the other", impossible);
    }
  }
}
