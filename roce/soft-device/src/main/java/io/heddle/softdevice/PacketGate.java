package io.heddle.softdevice;

import io.heddle.roce.transport.Pause;
import java.nio.ByteBuffer;

/**
 * Where every received packet passes: lets it through, drops it, changes it, or holds it; and where
 * packets may be lost before they leave. Under the progress lock.
 */
interface PacketGate {
  /** Lets every packet through as it came. */
  PacketGate OPEN =
      new PacketGate() {
        @Override
        public boolean isOpen() {
          return true;
        }

        @Override
        public boolean passes(
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

        @Override
        public int release(PacketSink sink, long nowNs) {
          return 0;
        }

        @Override
        public long dueNs() {
          return Pause.NEVER_NS;
        }

        @Override
        public boolean dropsOutgoing() {
          return false;
        }

        @Override
        public boolean leaves() {
          return true;
        }
      };

  /**
   * Whether the packet goes on now. The gate may write into it, or keep a copy for {@link
   * #release}.
   */
  boolean passes(
      ByteBuffer view,
      long base,
      long packet,
      int bytes,
      long high,
      long low,
      int port,
      long nowNs);

  /** Hands packets whose time has come to that sink, and returns how many. */
  int release(PacketSink sink, long nowNs);

  /** When a held packet is due, or {@link Pause#NEVER_NS}. */
  long dueNs();

  /** Whether {@link #leaves} is to be asked of each packet. */
  boolean dropsOutgoing();

  /** Whether the packet that is about to leave does so; it is lost otherwise. */
  boolean leaves();

  /** Whether everything that arrives passes, so that {@link #passes} need not be asked. */
  default boolean isOpen() {
    return false;
  }
}
