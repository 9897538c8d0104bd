package io.heddle.bridge.unicast;

import io.heddle.verbs.Gid;

/**
 * Address of the bridge that represents a host.
 *
 * @param side fabric that the address is in, 0 for a
 * @param address the bridge's address, IPv4 in mapped form
 * @param host address of the host in the other fabric, IPv4 in mapped form
 */
public record ProxyAddress(int side, Gid address, Gid host) {
  /** Returns address and host, for people. */
  @Override
  public String toString() {
    return "proxy " + (side == 0 ? "a " : "b ") + address + " for=" + host;
  }
}
