package io.heddle.addr;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Locale;
import java.util.Set;

/**
 * Address of an interface.
 *
 * @param interfaceIndex index of the {@link NetworkLink}
 * @param prefixLength length of the on-link prefix in bits
 */
public record AssignedAddress(
    int interfaceIndex, InetAddress address, int prefixLength, Set<AddressFlag> flags) {
  public AssignedAddress {
    flags = Set.copyOf(flags);
  }

  public boolean has(AddressFlag flag) {
    return flags.contains(flag);
  }

  /**
   * Returns whether the lower 64 bits have the form that SLAAC makes from a MAC: {@code ff:fe} in
   * the middle (RFC 4291, appendix A). The address need not belong to the interface's present MAC.
   */
  public boolean isEui64() {
    byte[] raw = address.getAddress();
    return address instanceof Inet6Address && raw[11] == (byte) 0xff && raw[12] == (byte) 0xfe;
  }

  /** Returns the on-link prefix. */
  public AddressPrefix prefix() {
    return new AddressPrefix(address, prefixLength);
  }

  /**
   * Returns the name that the subnet has in a plane's key. For IPv6 the name is the low 16 bits of
   * the /64 in four hex digits. For IPv4 it is the subnet's first address, {@code 10.1.2.0}.
   */
  String subnetName() {
    byte[] raw = address.getAddress();
    return raw.length == 16
        ? String.format(Locale.ROOT, "%04x", (raw[6] & 0xff) << 8 | raw[7] & 0xff)
        : AddressText.of(prefix().first());
  }

  /**
   * Returns whether both addresses are in the same subnet. An IPv6 subnet is the /64; an IPv4
   * subnet is the on-link prefix.
   */
  boolean isInSameSubnet(AssignedAddress other) {
    int bits = address instanceof Inet6Address ? 64 : prefixLength;
    return new AddressPrefix(address, bits).includes(other.address)
        && (bits == 64 || bits == other.prefixLength);
  }

  /** Compares by interface, then address. */
  static int byInterface(AssignedAddress left, AssignedAddress right) {
    int later = Integer.compare(left.interfaceIndex, right.interfaceIndex);
    return later != 0 ? later : AddressText.ORDER.compare(left.address, right.address);
  }

  @Override
  public String toString() {
    return AddressText.of(address) + "/" + prefixLength;
  }
}
