package io.heddle.addr;

/**
 * A network interface.
 *
 * @param index the kernel's number for it in this namespace, from 1
 * @param mtuBytes largest IP packet
 * @param administrativelyUp whether it was set up (IFF_UP)
 * @param carrier whether the link below is there (IFLA_CARRIER)
 * @param loopback whether it is the loopback interface
 * @param macAddress {@code 02:00:00:00:01:01}, empty where it has none
 * @param parentIndex interface that it stands on (VLAN, macvlan), 0 where it has none; a veth's
 *     peer isn't a parent
 * @param kind the driver's name of a virtual interface ({@code veth}, {@code vlan}, {@code
 *     bridge}), empty for hardware
 * @param speedBitsPerSecond what sysfs says, 0 where it says nothing
 */
public record NetworkLink(
    int index,
    String name,
    int mtuBytes,
    boolean administrativelyUp,
    boolean carrier,
    boolean loopback,
    String macAddress,
    int parentIndex,
    String kind,
    long speedBitsPerSecond) {

  /** Whether traffic can flow. */
  public boolean isUp() {
    return administrativelyUp && carrier;
  }

  NetworkLink withSpeed(long bitsPerSecond) {
    return new NetworkLink(
        index,
        name,
        mtuBytes,
        administrativelyUp,
        carrier,
        loopback,
        macAddress,
        parentIndex,
        kind,
        bitsPerSecond);
  }
}
