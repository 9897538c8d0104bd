package io.heddle.gateway.dataplane;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Conversion of IPv4 and IPv6 addresses to sixteen bytes. IPv4 addresses are mapped into IPv6 (RFC
 * 4291, 2.5.5.2).
 */
public final class AddressBytes {
  public static final int LENGTH = 16;
  private static final int IPV4_AT = 12;

  private AddressBytes() {}

  public static byte[] of(InetAddress address) {
    byte[] raw = address.getAddress();
    if (raw.length == LENGTH) {
      return raw;
    }
    byte[] mapped = new byte[LENGTH];
    mapped[IPV4_AT - 2] = mapped[IPV4_AT - 1] = (byte) 0xff;
    System.arraycopy(raw, 0, mapped, IPV4_AT, raw.length);
    return mapped;
  }

  /** Returns the address of sixteen bytes. A mapped address becomes an IPv4 address again. */
  public static InetAddress address(byte[] sixteen) {
    try {
      return InetAddress.getByAddress(sixteen);
    } catch (UnknownHostException wrongLength) {
      throw new IllegalArgumentException(sixteen.length + " bytes aren't an address", wrongLength);
    }
  }
}
