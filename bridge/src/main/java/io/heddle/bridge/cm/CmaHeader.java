package io.heddle.bridge.cm;

import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.lang.foreign.ValueLayout;

/**
 * Header that RDMA CM puts before a request's private data: the IP addresses of both ends
 * (InfiniBand Architecture Specification, volume 1, annex A11; Linux, {@code struct cma_hdr}).
 *
 * <pre>
 *  0        1        2        3
 * |version  |IP v.|rs|source port       |   version 0; IP version in the upper half
 * |source address, 16 bytes             |   IPv4: after 12 bytes of zeros
 * |destination address, 16 bytes        |
 * </pre>
 */
public final class CmaHeader {
  public static final int BYTES = 36;

  /** Default queue key of RDMA CM's datagram services (RDMA_UDP_QKEY). */
  public static final int QUEUE_KEY = 0x0123_4567;

  /** RDMA CM's port space of datagram services (Linux, {@code RDMA_PS_UDP}). */
  private static final int PORT_SPACE_UDP = 0x0111;

  private static final int IP_VERSION = 1;
  private static final int PORT = 2;
  private static final int SOURCE = 4;
  private static final int DESTINATION = 20;
  private static final long IPV4_MARK = 0xffff_0000_0000L;

  private CmaHeader() {}

  /**
   * Returns whether a service is in one of RDMA CM's port spaces. All requests for such services
   * have the header.
   */
  public static boolean isService(long serviceId) {
    return serviceId >>> 24 == 1;
  }

  /** Returns whether the service is in the datagram port space. */
  public static boolean isDatagramService(long serviceId) {
    return serviceId >>> 16 == datagramService(0) >>> 16;
  }

  /** Returns the port of a service in one of RDMA CM's port spaces. */
  public static int servicePort(long serviceId) {
    return (int) serviceId & 0xffff;
  }

  /** Returns the service id of a port in the datagram port space. */
  public static long datagramService(int port) {
    return 1L << 24 | (long) PORT_SPACE_UDP << 16 | port;
  }

  /** Returns whether the bytes at an address are a valid header of RDMA CM, for IPv4 or IPv6. */
  public static boolean isValid(long at) {
    int ip = ipVersion(at);
    return Memory.ALL.get(ValueLayout.JAVA_BYTE, at) == 0 && (ip == 4 || ip == 6);
  }

  public static int ipVersion(long at) {
    return (Memory.ALL.get(ValueLayout.JAVA_BYTE, at + IP_VERSION) & 0xff) >>> 4;
  }

  public static int port(long at) {
    return Memory.ALL.get(Memory.NETWORK_SHORT, at + PORT) & 0xffff;
  }

  /**
   * Returns the requester's address, IPv4 in mapped form. The header must be {@linkplain #isValid
   * valid}.
   */
  public static Gid source(long at) {
    return address(at, SOURCE);
  }

  /**
   * Returns the server's address, IPv4 in mapped form. The header must be {@linkplain #isValid
   * valid}.
   */
  public static Gid destination(long at) {
    return address(at, DESTINATION);
  }

  private static Gid address(long at, int offset) {
    long high = Memory.ALL.get(Memory.NETWORK_LONG, at + offset);
    long low = Memory.ALL.get(Memory.NETWORK_LONG, at + offset + Long.BYTES);
    return ipVersion(at) == 4 ? new Gid(0, IPV4_MARK | low & 0xffff_ffffL) : new Gid(high, low);
  }

  /**
   * Replaces the addresses in a header, and sets the matching version of IP.
   *
   * @param source address of the requester, IPv4 in mapped form
   * @param destination address of the server, of the same IP version
   */
  public static void setAddresses(long at, Gid source, Gid destination) {
    int version = source.isIpv4Mapped() ? 4 : 6;
    Memory.ALL.set(ValueLayout.JAVA_BYTE, at + IP_VERSION, (byte) (version << 4));
    putAddress(at + SOURCE, source);
    putAddress(at + DESTINATION, destination);
  }

  private static void putAddress(long at, Gid address) {
    boolean ipv4 = address.isIpv4Mapped();
    long low = ipv4 ? address.low() & 0xffff_ffffL : address.low();
    Memory.ALL.set(Memory.NETWORK_LONG, at, address.high());
    Memory.ALL.set(Memory.NETWORK_LONG, at + Long.BYTES, low);
  }

  /** Writes a header. */
  public static void write(long at, int port, Gid source, Gid destination) {
    Memory.ALL.set(ValueLayout.JAVA_BYTE, at, (byte) 0);
    Memory.ALL.set(Memory.NETWORK_SHORT, at + PORT, (short) port);
    setAddresses(at, source, destination);
  }

  /** Returns a one-line description of the header at an address. */
  static String describe(long at) {
    return isValid(at)
        ? "from " + source(at) + " port " + port(at) + " to " + destination(at)
        : "private data that RDMA CM doesn't make";
  }
}
