package io.heddle.transport.device;

import io.heddle.addr.PlaneMarks;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;

/**
 * A plane as a device of this host has it.
 *
 * @param key what this host calls it
 * @param ownKey what this host would call it without a route daemon
 * @param prefixLength bits of the address' on-link prefix
 * @param mtu the largest that the address's interface carries
 * @param interfaceName that carries the address
 */
public record LocalPlane(
    String key, String ownKey, Gid gid, int prefixLength, PathMtu mtu, String interfaceName) {
  /** By which the other end's planes are compared with it. */
  public PlaneMarks marks() {
    return new PlaneMarks(key, ownKey, gid.toAddress(), prefixLength, interfaceName);
  }
}
