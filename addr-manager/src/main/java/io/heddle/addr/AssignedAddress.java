package io.heddle.addr;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Set;

/**
 * An address that an interface has.
 *
 * @param interfaceIndex index of the {@link NetworkLink}
 * @param prefixLength bits that the on-link prefix has
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
   * Whether the lower 64 bits have the form that SLAAC makes from a MAC: {@code ff:fe} in the
   * middle (RFC 4291, appendix A). The address need not belong to the interface's present MAC.
   */
  public boolean isEui64() {
    byte[] raw = address.getAddress();
    return address instanceof Inet6Address && raw[11] == (byte) 0xff && raw[12] == (byte) 0xfe;
  }

  /** The low 16 bits of the /64 that the address is in; 0 for IPv4. */
  public int subnetId() {
    byte[] raw = address.getAddress();
    return raw.length == 16 ? (raw[6] & 0xff) << 8 | raw[7] & 0xff : 0;
  }

  /** Whether both are IPv6 and share the first 64 bits. */
  boolean inSameSubnet(AssignedAddress other) {
    byte[] mine = address.getAddress();
    byte[] theirs = other.address.getAddress();
    return mine.length == 16
        && theirs.length == 16
        && java.util.Arrays.equals(mine, 0, 8, theirs, 0, 8);
  }

  /** By interface, then address. */
  static int byInterface(AssignedAddress left, AssignedAddress right) {
    int later = Integer.compare(left.interfaceIndex, right.interfaceIndex);
    return later != 0 ? later : AddressText.ORDER.compare(left.address, right.address);
  }

  @Override
  public String toString() {
    return AddressText.of(address) + "/" + prefixLength;
  }
}
