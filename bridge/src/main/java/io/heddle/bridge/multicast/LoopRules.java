package io.heddle.bridge.multicast;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.HostAddresses;
import io.heddle.bridge.status.DropReason;
import io.heddle.verbs.Gid;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Filter of packets from a fabric by source. It rejects, in this order, the bridge's own addresses,
 * the addresses of other bridges, and addresses outside the fabric's prefixes. Immutable. {@link
 * StormGuard} detects the loops that pass this filter.
 */
public final class LoopRules {
  private final long[] own;
  private final long[] bridges;
  private final long[] prefixes;
  private final int[] prefixBits;

  /**
   * @param own the bridge's addresses in the fabric
   * @param bridges addresses of other bridges, in any fabric
   * @param prefixes prefixes of the fabric's hosts; an empty list accepts every source
   */
  public LoopRules(List<Gid> own, List<Gid> bridges, List<Prefix> prefixes) {
    this.own = flat(own);
    this.bridges = flat(bridges);
    this.prefixes = flat(prefixes.stream().map(Prefix::address).toList());
    this.prefixBits = prefixes.stream().mapToInt(Prefix::bits).toArray();
  }

  /**
   * Address prefix.
   *
   * @param address any address in the prefix, IPv4 in mapped form
   * @param bits length of the prefix, 0 to 128 bits; 96 more than an IPv4 prefix's length
   */
  public record Prefix(Gid address, int bits) {
    private static final int IPV4_BITS = 96;

    /** Returns the prefixes of an interface's addresses. */
    public static List<Prefix> ofInterface(int interfaceIndex, HostAddresses host) {
      return host.addresses().stream()
          .filter(each -> each.interfaceIndex() == interfaceIndex)
          .map(each -> of(each.prefix()))
          .toList();
    }

    /** Returns the prefix with its address in mapped form if it is of IPv4. */
    public static Prefix of(AddressPrefix prefix) {
      Gid address = Gid.of(prefix.address());
      return new Prefix(address, prefix.lengthBits() + (address.isIpv4Mapped() ? IPV4_BITS : 0));
    }

    /** Returns whether an address is in the prefix. */
    public boolean contains(Gid other) {
      return matchesPrefix(address.high(), address.low(), bits, other.high(), other.low());
    }

    @Override
    public String toString() {
      return address + "/" + (address.isIpv4Mapped() ? bits - IPV4_BITS : bits);
    }
  }

  private static long[] flat(List<Gid> addresses) {
    long[] flat = new long[2 * addresses.size()];
    for (int i = 0; i < addresses.size(); i++) {
      flat[2 * i] = addresses.get(i).high();
      flat[2 * i + 1] = addresses.get(i).low();
    }
    return flat;
  }

  private static boolean has(long[] addresses, long high, long low) {
    for (int i = 0; i < addresses.length; i += 2) {
      if (addresses[i + 1] == low && addresses[i] == high) {
        return true;
      }
    }
    return false;
  }

  /** Returns the reason to drop a packet from this source; null for none. */
  public @Nullable DropReason dropReason(long high, long low) {
    if (has(own, high, low)) {
      return DropReason.OWN_SOURCE;
    }
    if (has(bridges, high, low)) {
      return DropReason.KNOWN_BRIDGE;
    }
    return isInside(high, low) ? null : DropReason.FOREIGN_SOURCE;
  }

  private boolean isInside(long high, long low) {
    for (int i = 0; i < prefixBits.length; i++) {
      if (matchesPrefix(prefixes[2 * i], prefixes[2 * i + 1], prefixBits[i], high, low)) {
        return true;
      }
    }
    return prefixBits.length == 0;
  }

  private static boolean matchesPrefix(
      long prefixHigh, long prefixLow, int bits, long high, long low) {
    long highMask = bits >= 64 ? -1 : bits == 0 ? 0 : -1L << 64 - bits;
    long lowMask = bits <= 64 ? 0 : -1L << 128 - bits;
    return ((prefixHigh ^ high) & highMask) == 0 && ((prefixLow ^ low) & lowMask) == 0;
  }
}
