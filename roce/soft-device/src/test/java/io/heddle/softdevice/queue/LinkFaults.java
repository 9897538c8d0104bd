package io.heddle.softdevice.queue;

import io.heddle.roce.wire.EndpointParameters;
import io.heddle.softdevice.faults.DelayLine;
import io.heddle.softdevice.faults.FaultGate;
import io.heddle.softdevice.faults.Faults;
import io.heddle.softdevice.io.HeldPacket;
import io.heddle.softdevice.io.PacketGate;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Faults of single links of a {@link SoftPair}: a link is cut, narrow or slow. Packets that pass
 * are then subject to the random faults. Only the thread that makes progress may change the faults.
 */
final class LinkFaults {
  /**
   * Number of addresses per link. An address ends in {@code ADDRESSES_PER_LINK * link + host}, so a
   * packet's source address identifies the link.
   */
  static final int ADDRESSES_PER_LINK = 8;

  private final boolean[] cut = new boolean[EndpointParameters.MOST_LINKS];
  private final @Nullable DelayLine[] lines = new DelayLine[EndpointParameters.MOST_LINKS];
  private final long[] delayNs = new long[EndpointParameters.MOST_LINKS];
  private @Nullable Arena arena;
  private final int[] longest = new int[EndpointParameters.MOST_LINKS];
  private LongPredicate passFilter = packet -> true;
  private LongPredicate heldFilter = packet -> false;
  private boolean isHolding;
  private @Nullable DelayLine heldPackets;
  private long lost;
  private long tooLong;
  private boolean open;

  {
    java.util.Arrays.fill(longest, Integer.MAX_VALUE);
  }

  /** Cuts this link, or restores it. */
  void cut(int link, boolean on) {
    cut[link] = on;
  }

  /** Drops packets on this link that are longer than {@code bytes}, counted from BTH to ICRC. */
  void narrow(int link, int bytes) {
    longest[link] = bytes;
  }

  /**
   * Drops, on every link, packets that the filter refuses. The filter's argument is the packet's
   * address.
   */
  void passOnly(LongPredicate passes) {
    passFilter = passes;
  }

  /**
   * Holds packets that the filter accepts until {@link #releaseHeld}. The filter's argument is the
   * packet's address.
   */
  void hold(LongPredicate which) {
    heldFilter = which;
    isHolding = true;
    heldPackets = new DelayLine(java.util.Objects.requireNonNull(arena));
  }

  void releaseHeld() {
    isHolding = false;
  }

  /** Returns the number of packets dropped for their length. */
  long tooLong() {
    return tooLong;
  }

  /** Delays packets on this link. */
  void delay(int link, long nanoseconds) {
    delayNs[link] = nanoseconds;
    lines[link] = new DelayLine(java.util.Objects.requireNonNull(arena));
  }

  /**
   * Lets the engine skip the gate if there are no random faults. The faults of links then have no
   * effect either.
   */
  void open() {
    open = true;
  }

  /** Returns the number of packets dropped by a cut. */
  long lost() {
    return lost;
  }

  /** Returns a gate that applies these faults first, then the random ones. */
  PacketGate gate(Arena arena, @Nullable Faults randomFaults) {
    this.arena = arena;
    PacketGate behind = randomFaults == null ? PacketGate.OPEN : new FaultGate(arena, randomFaults);
    return new PacketGate() {
      @Override
      public boolean isOpen() {
        return open && behind.isOpen();
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
        int link = (int) (low & 0xff) / ADDRESSES_PER_LINK;
        if (link < cut.length && cut[link]) {
          lost++;
          return false;
        }
        if (link < longest.length && bytes > longest[link]) {
          tooLong++;
          return false;
        }
        if (!passFilter.test(packet)) {
          return false;
        }
        if (isHolding && heldPackets != null && heldFilter.test(packet)) {
          heldPackets.add(packet, bytes, high, low, port, nowNs);
          return false;
        }
        DelayLine line = link < lines.length ? lines[link] : null;
        if (line != null) {
          line.add(packet, bytes, high, low, port, nowNs + delayNs[link]);
          return false;
        }
        return behind.passes(view, base, packet, bytes, high, low, port, nowNs);
      }

      @Override
      public @Nullable HeldPacket takeDue(long nowNs) {
        HeldPacket due = behind.takeDue(nowNs);
        if (due == null && heldPackets != null && !isHolding) {
          due = heldPackets.takeDue(nowNs);
        }
        for (int i = 0; due == null && i < lines.length; i++) {
          DelayLine line = lines[i];
          due = line == null ? null : line.takeDue(nowNs);
        }
        return due;
      }

      @Override
      public long dueNs() {
        long due = behind.dueNs();
        for (DelayLine line : lines) {
          due = line == null ? due : Math.min(due, line.dueNs());
        }
        return due;
      }

      @Override
      public boolean dropsOutgoing() {
        return behind.dropsOutgoing();
      }

      @Override
      public boolean passesOutgoing() {
        return behind.passesOutgoing();
      }
    };
  }
}
