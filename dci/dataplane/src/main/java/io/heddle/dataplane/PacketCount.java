package io.heddle.dataplane;

/**
 * @param bytes of IP
 */
public record PacketCount(long packets, long bytes) {
  public static final PacketCount NONE = new PacketCount(0, 0);
}
