package io.heddle.fabric.model;

import java.net.InetAddress;

/**
 * What a switch sees of a RoCEv2 flow. Protocol and destination port are the same for all of them.
 *
 * @param source address
 * @param destination address
 * @param sourcePort UDP port that the sender chose, 0 to 65535
 * @param queuePair the destination's queue pair number of the BTH, 24 bits; 0 where it isn't known
 */
public record RoceFlow(InetAddress source, InetAddress destination, int sourcePort, int queuePair) {
  /** UDP. */
  public static final int PROTOCOL = 17;

  /** RoCEv2's port (InfiniBand volume 1, annex A17). */
  public static final int DESTINATION_PORT = 4791;

  public RoceFlow {
    if (source.getAddress().length != destination.getAddress().length) {
      throw new IllegalArgumentException(source + " and " + destination + " are of two families");
    }
    if (sourcePort >>> 16 != 0 || queuePair >>> 24 != 0) {
      throw new IllegalArgumentException(
          "port " + sourcePort + " or queue pair " + queuePair + " is out of range");
    }
  }
}
