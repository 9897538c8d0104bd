package io.heddle.softdevice.io;

import io.heddle.roce.transport.Pause;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Filter of every received packet: it passes, drops, changes or holds the packet. It may also drop
 * packets before they are sent. The default methods let all packets pass. Used under the progress
 * lock.
 */
public interface PacketGate {
  /** Gate that passes every packet unchanged. */
  PacketGate OPEN = new PacketGate() {};

  /**
   * Returns whether the packet passes now. The gate may change it, or keep a copy for {@link
   * #takeDue}.
   */
  default boolean passes(
      ByteBuffer view,
      long base,
      long packet,
      int bytes,
      long high,
      long low,
      int port,
      long nowNs) {
    return true;
  }

  /** Returns the next held packet that is due, valid until the next call; null if there is none. */
  default @Nullable HeldPacket takeDue(long nowNs) {
    return null;
  }

  /** Returns the time at which a held packet is due, or {@link Pause#NEVER_NS}. */
  default long dueNs() {
    return Pause.NEVER_NS;
  }

  /** Returns whether {@link #passesOutgoing} must be called for each sent packet. */
  default boolean dropsOutgoing() {
    return false;
  }

  /** Returns whether the next packet is sent. Otherwise the packet is dropped. */
  default boolean passesOutgoing() {
    return true;
  }

  /** Returns whether all received packets pass, so that {@link #passes} needn't be called. */
  default boolean isOpen() {
    return true;
  }
}
