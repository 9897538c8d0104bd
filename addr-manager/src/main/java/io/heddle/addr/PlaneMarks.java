package io.heddle.addr;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Locale;

/**
 * Marks of a plane: properties that one end of a connection sends to the other. By comparing marks,
 * {@link PlaneMatching} finds which planes of two hosts are the same.
 *
 * @param key the plane's key on its host
 * @param ownKey key that the plane has, or would have, on its host without a route daemon
 * @param address local address of the plane
 * @param prefixLength length of the on-link prefix in bits; the address's full length if there is
 *     no on-link prefix
 * @param interfaceName name of the interface that carries the address
 */
public record PlaneMarks(
    String key, String ownKey, InetAddress address, int prefixLength, String interfaceName) {
  /*
   * A prefix with at most this number of host bits belongs to a point-to-point link or a single
   * address, so no third host has an address in it.
   */
  private static final int POINT_TO_POINT_BITS = 2;

  private static final int SUBNET_BITS = 64;

  /** Returns whether a route daemon has named the plane. */
  public boolean isNamedByDaemon() {
    return !key.equals(ownKey);
  }

  /** Returns whether {@code HEDDLE_PLANES} names the plane. */
  public boolean isConfigured() {
    return ownKey.startsWith(Plane.OPERATOR_PREFIX);
  }

  /**
   * Returns whether a route daemon or an operator has named the plane, so that its key isn't merely
   * derived from an interface or a subnet.
   */
  boolean isNamed() {
    return isNamedByDaemon() || isConfigured();
  }

  private int bits() {
    return 8 * address.getAddress().length;
  }

  private boolean isIpv6() {
    return address instanceof Inet6Address;
  }

  /** Returns whether the address has no on-link prefix, like the address of a pod. */
  public boolean isHostAddress() {
    return prefixLength >= bits();
  }

  private AddressPrefix prefix() {
    return new AddressPrefix(address, Math.min(prefixLength, bits()));
  }

  /**
   * Returns the on-link prefix as text, {@code fd00:1:1:2::/64}; or the address if there is no
   * on-link prefix.
   */
  public String prefixText() {
    return isHostAddress()
        ? AddressText.of(address)
        : AddressText.of(prefix().first()) + "/" + prefixLength;
  }

  /** Returns whether these planes can't be the same, even if other marks agree. */
  public boolean contradicts(PlaneMarks other) {
    boolean daemonNamesDiffer =
        isNamedByDaemon() && other.isNamedByDaemon() && !key.equals(other.key);
    boolean configuredKeysDiffer =
        isConfigured() && other.isConfigured() && !ownKey.equals(other.ownKey);
    boolean operatorNamesDiffer = isFromRule() && other.isFromRule() && !key.equals(other.key);
    return isIpv6() != other.isIpv6()
        || daemonNamesDiffer
        || configuredKeysDiffer
        || operatorNamesDiffer;
  }

  private boolean isFromRule() {
    return key.startsWith(Plane.OPERATOR_PREFIX);
  }

  /** Returns whether both planes have the same name, given by a route daemon or an operator. */
  public boolean hasSameNameAs(PlaneMarks other) {
    return isNamed() && other.isNamed() && key.equals(other.key);
  }

  /** Returns whether {@code HEDDLE_PLANES} gives both planes the same key. */
  public boolean hasSameConfiguredKeyAs(PlaneMarks other) {
    return isConfigured() && ownKey.equals(other.ownKey);
  }

  /** Returns whether both planes have the same on-link prefix: network and length. */
  public boolean hasSamePrefixAs(PlaneMarks other) {
    return !isHostAddress()
        && prefixLength == other.prefixLength
        && prefix().includes(other.address);
  }

  /**
   * Returns whether either plane's on-link prefix includes the other's address. Returns true also
   * for two addresses in one /64, unless both planes divide the /64 into subnets.
   */
  public boolean isOnLinkWith(PlaneMarks other) {
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

  /** Returns whether both planes have the same key if route daemons' keys are ignored. */
  public boolean hasSameOwnKeyAs(PlaneMarks other) {
    return ownKey.equals(other.ownKey);
  }

  /** Returns whether both planes have the same low 16 bits of the /64, which name a subnet. */
  public boolean hasSameLowBitsAs(PlaneMarks other) {
    return hasLowBits() && other.hasLowBits() && lowBits().equals(other.lowBits());
  }

  private boolean hasLowBits() {
    return isIpv6() && !isHostAddress() && !dividesSubnet();
  }

  /** Returns the low 16 bits of the /64 in four hex digits; IPv6 only. */
  public String lowBits() {
    byte[] raw = address.getAddress();
    return String.format(Locale.ROOT, "%04x", (raw[6] & 0xff) << 8 | raw[7] & 0xff);
  }

  /** Returns whether the interfaces have the same name. */
  public boolean hasSameInterfaceNameAs(PlaneMarks other) {
    return !interfaceName.isEmpty() && interfaceName.equals(other.interfaceName);
  }

  /** Returns key and marks for a log: {@code if:e2 (fd00:1:1:2::/64 on e2)}. */
  @Override
  public String toString() {
    return "%s (%s%s on %s)"
        .formatted(
            key, isNamedByDaemon() ? "else " + ownKey + ", " : "", prefixText(), interfaceName);
  }
}
