package io.heddle.transport.device;

import io.heddle.addr.PlaneMarks;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;

/**
 * Plane of a local device.
 *
 * @param key this host's name of the plane
 * @param ownKey name that this host would use without a route daemon
 * @param prefixLength length of the address's on-link prefix in bits
 * @param mtu largest path MTU that the address's interface and the device's port carry
 * @param interfaceName the interface that has the address
 */
public record LocalPlane(
    String key, String ownKey, Gid gid, int prefixLength, PathMtu mtu, String interfaceName) {
  /** Returns the marks (keys, address, interface) by which the planes of two ends are matched. */
  public PlaneMarks marks() {
    return new PlaneMarks(key, ownKey, gid.toAddress(), prefixLength, interfaceName);
  }
}
