package io.heddle.gateway.dataplane;

/**
 * Number of packets and bytes.
 *
 * @param bytes IP bytes, headers included
 */
public record PacketCount(long packets, long bytes) {
  public static final PacketCount NONE = new PacketCount(0, 0);
}
