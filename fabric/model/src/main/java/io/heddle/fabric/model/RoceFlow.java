package io.heddle.fabric.model;

import java.net.InetAddress;

/**
 * The header fields of a RoCEv2 flow that a switch can hash. Protocol and destination port are the
 * same for all flows.
 *
 * @param source address
 * @param destination address
 * @param sourcePort UDP source port, 0 to 65535
 * @param queuePair the destination's queue pair number of the BTH, 24 bits; 0 if unknown
 */
public record RoceFlow(InetAddress source, InetAddress destination, int sourcePort, int queuePair) {
  /** UDP. */
  public static final int PROTOCOL = 17;

  /** RoCEv2's port (InfiniBand volume 1, annex A17). */
  public static final int DESTINATION_PORT = 4791;

  public RoceFlow {
    if (source.getAddress().length != destination.getAddress().length) {
      throw new IllegalArgumentException(
          source + " and " + destination + " are of different address families");
    }
    if (sourcePort >>> 16 != 0 || queuePair >>> 24 != 0) {
      throw new IllegalArgumentException(
          "port " + sourcePort + " or queue pair " + queuePair + " is out of range");
    }
  }
}
