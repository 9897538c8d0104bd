package io.heddle.bridge.infiniband;

import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;

/**
 * Codec of socket addresses: {@code struct sockaddr_in}, {@code sockaddr_in6} and {@code
 * sockaddr_ib}.
 */
final class RdmaSocketAddress {
  static final int BYTES = 28;

  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;
  private static final int AF_IB = 27;
  private static final int IB_BYTES = 48;
  private static final long IPV4_MARK = 0xffff_0000_0000L;

  private RdmaSocketAddress() {}

  /** Writes a struct sockaddr_in or sockaddr_in6, and returns its address. */
  static long write(long at, Gid address, int port) {
    boolean ipv4 = address.isIpv4Mapped();
    Memory.clear(at, BYTES);
    Memory.ALL.set(Memory.NATIVE_SHORT, at, (short) (ipv4 ? AF_INET : AF_INET6));
    Memory.ALL.set(Memory.NETWORK_SHORT, at + 2, (short) port);
    if (ipv4) {
      Memory.ALL.set(Memory.NETWORK_INT, at + 4, (int) address.low());
    } else {
      Memory.ALL.set(Memory.NETWORK_LONG, at + 8, address.high());
      Memory.ALL.set(Memory.NETWORK_LONG, at + 16, address.low());
    }
    return at;
  }

  /** Writes an MGID unchanged. */
  static void writeMgid(long at, Gid mgid) {
    Memory.clear(at, IB_BYTES);
    Memory.ALL.set(Memory.NATIVE_SHORT, at, (short) AF_IB);
    Memory.ALL.set(Memory.NETWORK_LONG, at + 8, mgid.high());
    Memory.ALL.set(Memory.NETWORK_LONG, at + 16, mgid.low());
  }

  /** Returns the address, IPv4 in mapped form. */
  static Gid address(long at) {
    if (Memory.ALL.get(Memory.NATIVE_SHORT, at) == AF_INET) {
      return new Gid(0, IPV4_MARK | Memory.ALL.get(Memory.NETWORK_INT, at + 4) & 0xffff_ffffL);
    }
    return new Gid(
        Memory.ALL.get(Memory.NETWORK_LONG, at + 8), Memory.ALL.get(Memory.NETWORK_LONG, at + 16));
  }

  static int port(long at) {
    return Memory.ALL.get(Memory.NETWORK_SHORT, at + 2) & 0xffff;
  }
}
