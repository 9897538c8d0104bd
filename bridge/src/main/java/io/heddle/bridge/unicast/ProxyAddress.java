package io.heddle.bridge.unicast;

import io.heddle.verbs.Gid;

/**
 * Address of the bridge that represents a host.
 *
 * @param side the fabric that the address is in
 * @param address of the bridge, IPv4 mapped
 * @param host in the other fabric
 */
public record ProxyAddress(int side, Gid address, Gid host) {
  /** Returns the line in configuration syntax. */
  @Override
  public String toString() {
    return "proxy " + (side == 0 ? "a " : "b ") + address + " for=" + host;
  }
}
