package io.heddle.verbs;

/**
 * State of a device's port.
 *
 * @param active whether traffic can flow
 * @param number port number, from 1
 * @param activeMtu the largest path MTU that the port can carry now
 * @param speedBitsPerSecond rate of the link, of all its lanes
 * @param ethernet whether the link layer is Ethernet; otherwise it is InfiniBand
 * @param lid local identifier on InfiniBand; 0 on Ethernet
 */
public record PortAttributes(
    boolean active,
    int number,
    PathMtu activeMtu,
    long speedBitsPerSecond,
    boolean ethernet,
    int lid) {
  /** Creates the attributes of an Ethernet port. */
  public PortAttributes(boolean active, int number, PathMtu activeMtu, long speedBitsPerSecond) {
    this(active, number, activeMtu, speedBitsPerSecond, true, 0);
  }
}
