package io.heddle.addr;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Locale;

/**
 * All that an end knows of one of its planes and can tell the other end. {@link PlaneMatching}
 * finds by it which planes of two hosts are the same.
 *
 * @param key the plane's key on its host
 * @param ownKey its key there without a route daemon
 * @param address where it is
 * @param prefixLength bits of the on-link prefix; all of the address' bits where it has none
 * @param interfaceName that carries the address
 */
public record PlaneMarks(
    String key, String ownKey, InetAddress address, int prefixLength, String interfaceName) {
  /* Links of two ends, and addresses without a link: no third host has an address of such a prefix. */
  private static final int POINT_TO_POINT_BITS = 2;

  private static final int SUBNET_BITS = 64;

  /** Whether a route daemon has named it. */
  public boolean isTold() {
    return !key.equals(ownKey);
  }

  /** Whether {@code HEDDLE_PLANES} names it. */
  public boolean isConfigured() {
    return ownKey.startsWith(Plane.OPERATOR_PREFIX);
  }

  /** Whether somebody has named it: the key is more than what its host has found. */
  boolean isNamed() {
    return isTold() || isConfigured();
  }

  private int bits() {
    return 8 * address.getAddress().length;
  }

  private boolean isIpv6() {
    return address instanceof Inet6Address;
  }

  /** Whether it is an address without an on-link prefix, as pods have them. */
  public boolean isHostAddress() {
    return prefixLength >= bits();
  }

  private AddressPrefix prefix() {
    return new AddressPrefix(address, Math.min(prefixLength, bits()));
  }

  /** The on-link prefix as text, {@code fd00:1:1:2::/64}; of a pod its address. */
  public String prefixText() {
    return isHostAddress()
        ? AddressText.of(address)
        : AddressText.of(prefix().first()) + "/" + prefixLength;
  }

  /** Whether these can't be the same plane, whatever else agrees. */
  public boolean contradicts(PlaneMarks other) {
    boolean toldApart = isTold() && other.isTold() && !key.equals(other.key);
    boolean configuredApart =
        isConfigured() && other.isConfigured() && !ownKey.equals(other.ownKey);
    boolean namedApart = isOperators() && other.isOperators() && !key.equals(other.key);
    return isIpv6() != other.isIpv6() || toldApart || configuredApart || namedApart;
  }

  private boolean isOperators() {
    return key.startsWith(Plane.OPERATOR_PREFIX);
  }

  /** Whether both have the same name that a route daemon or an operator gave. */
  public boolean hasNameOf(PlaneMarks other) {
    return isNamed() && other.isNamed() && key.equals(other.key);
  }

  /** Whether the operators of both ends call them alike. */
  public boolean hasConfiguredKeyOf(PlaneMarks other) {
    return isConfigured() && ownKey.equals(other.ownKey);
  }

  /** Whether both have the same on-link prefix: network and length. */
  public boolean hasPrefixOf(PlaneMarks other) {
    return !isHostAddress()
        && prefixLength == other.prefixLength
        && prefix().includes(other.address);
  }

  /**
   * Whether one's on-link prefix has the other's address, or both are in one /64 and don't say that
   * it has several subnets.
   */
  public boolean reaches(PlaneMarks other) {
    boolean includes =
        !isHostAddress() && prefix().includes(other.address)
            || !other.isHostAddress() && other.prefix().includes(address);
    return includes
        || isIpv6()
            && new AddressPrefix(address, SUBNET_BITS).includes(other.address)
            && !(dividesSubnet() && other.dividesSubnet());
  }

  private boolean dividesSubnet() {
    return prefixLength > SUBNET_BITS && prefixLength < bits() - POINT_TO_POINT_BITS;
  }

  /** Whether both hosts call it alike without a route daemon. */
  public boolean hasOwnKeyOf(PlaneMarks other) {
    return ownKey.equals(other.ownKey);
  }

  /** Whether the low 16 bits of the /64 are the same, and say something of the plane. */
  public boolean hasLowBitsOf(PlaneMarks other) {
    return hasLowBits() && other.hasLowBits() && lowBits().equals(other.lowBits());
  }

  private boolean hasLowBits() {
    return isIpv6() && !isHostAddress() && !dividesSubnet();
  }

  /** The low 16 bits of the /64 in four hex digits; of IPv6 only. */
  public String lowBits() {
    byte[] raw = address.getAddress();
    return String.format(Locale.ROOT, "%04x", (raw[6] & 0xff) << 8 | raw[7] & 0xff);
  }

  /** Whether the interfaces have the same name. */
  public boolean hasInterfaceOf(PlaneMarks other) {
    return !interfaceName.isEmpty() && interfaceName.equals(other.interfaceName);
  }

  /** Key and marks for a log: {@code if:e2 (fd00:1:1:2::/64 on e2)}. */
  @Override
  public String toString() {
    return "%s (%s%s on %s)"
        .formatted(key, isTold() ? "else " + ownKey + ", " : "", prefixText(), interfaceName);
  }
}
