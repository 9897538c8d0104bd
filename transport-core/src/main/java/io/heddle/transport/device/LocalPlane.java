package io.heddle.transport.device;

import io.heddle.addr.PlaneMarks;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;

/**
 * Plane of a local device.
 *
 * @param key this host's name of the plane
 * @param ownKey the name this host would use without a route daemon
 * @param prefixLength bits of the address' on-link prefix
 * @param mtu the largest that the address's interface carries
 * @param interfaceName the interface that has the address
 */
public record LocalPlane(
    String key, String ownKey, Gid gid, int prefixLength, PathMtu mtu, String interfaceName) {
  /** Returns the marks that plane matching compares. */
  public PlaneMarks marks() {
    return new PlaneMarks(key, ownKey, gid.toAddress(), prefixLength, interfaceName);
  }
}
