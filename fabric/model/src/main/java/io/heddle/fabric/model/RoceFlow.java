package io.heddle.fabric.model;

import java.net.InetAddress;

/**
 * Header fields of a RoCEv2 flow that a switch can hash. Protocol and destination port aren't
 * components, since they are the same for all flows.
 *
 * @param source source address
 * @param destination destination address
 * @param sourcePort UDP source port, 0 to 65535
 * @param queuePair queue pair number of the destination in the BTH, 24 bits; 0 if unknown
 */
public record RoceFlow(InetAddress source, InetAddress destination, int sourcePort, int queuePair) {
  /** Protocol number of UDP. */
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
