package io.heddle.bridge.unicast;

import io.heddle.verbs.Gid;

/**
 * An address of the bridge that stands for a host.
 *
 * @param side the fabric that the address is in
 * @param address of the bridge, IPv4 mapped
 * @param host in the other fabric, whose packets come from there and go there
 */
public record StandIn(int side, Gid address, Gid host) {
  /** As in the configuration. */
  @Override
  public String toString() {
    return "proxy " + (side == 0 ? "a " : "b ") + address + " for=" + host;
  }
}
