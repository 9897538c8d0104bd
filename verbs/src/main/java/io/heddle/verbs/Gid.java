package io.heddle.verbs;

import io.heddle.platform.Ipv6Text;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Global identifier of 128 bits; on RoCEv2 the port's IPv6 address, or its IPv4 address in mapped
 * form ({@code ::ffff:a.b.c.d}).
 *
 * @param high the first eight bytes, big-endian
 * @param low the last eight bytes, big-endian
 */
public record Gid(long high, long low) {
  /** Length of a GID in bytes, on the wire and in memory. */
  public static final int BYTES = 16;

  private static final long MAPPED_PREFIX = 0x0000_ffff_0000_0000L;

  public static Gid of(InetAddress address) {
    byte[] raw = address.getAddress();
    return raw.length == BYTES ? of(raw) : new Gid(0, MAPPED_PREFIX | bigEndian(raw, 0, 4));
  }

  /**
   * @param bytes sixteen bytes in network order
   */
  public static Gid of(byte[] bytes) {
    if (bytes.length != BYTES) {
      throw new IllegalArgumentException("a GID has 16 bytes, not " + bytes.length);
    }
    return new Gid(bigEndian(bytes, 0, 8), bigEndian(bytes, 8, 8));
  }

  private static long bigEndian(byte[] bytes, int from, int count) {
    long value = 0;
    for (int i = from; i < from + count; i++) {
      value = value << 8 | (bytes[i] & 0xff);
    }
    return value;
  }

  /** Returns the sixteen bytes in network order. */
  public byte[] toBytes() {
    byte[] bytes = new byte[BYTES];
    for (int i = 0; i < 8; i++) {
      bytes[i] = (byte) (high >>> (56 - 8 * i));
      bytes[8 + i] = (byte) (low >>> (56 - 8 * i));
    }
    return bytes;
  }

  public boolean isIpv4Mapped() {
    return high == 0 && (low & 0xffff_ffff_0000_0000L) == MAPPED_PREFIX;
  }

  public boolean isLinkLocal() {
    return high >>> 54 == 0xfe80 >>> 6;
  }

  /** Returns the address; an IPv4-mapped address becomes an IPv4 address. */
  public InetAddress toAddress() {
    try {
      return InetAddress.getByAddress(toBytes());
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException("sixteen bytes are an address", impossible);
    }
  }

  /*
   * Written by hand: the JVM would link a record's generated method at first use, which takes 3 ms
   * of the plugin's start.
   */
  @Override
  public boolean equals(Object other) {
    return other instanceof Gid gid && high == gid.high && low == gid.low;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(high) * 31 + Long.hashCode(low);
  }

  /** Returns the address in the form of RFC 5952, or as dotted quad if it is IPv4-mapped. */
  @Override
  public String toString() {
    InetAddress address = toAddress();
    return address instanceof Inet6Address ? Ipv6Text.of(toBytes()) : address.getHostAddress();
  }
}
