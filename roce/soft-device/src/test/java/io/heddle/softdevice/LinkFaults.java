package io.heddle.softdevice;

import io.heddle.roce.wire.EndpointParameters;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * What befalls packets on one link of a {@link SoftPair} and not on the others: it is cut, or long.
 * What is left meets the faults that are drawn everywhere. Changed by the thread that makes
 * progress.
 */
final class LinkFaults {
  /** Hosts that have a link's addresses: the source address tells the link. */
  static final int HOSTS = 8;

  private final boolean[] cut = new boolean[EndpointParameters.MOST_LINKS];
  private final @Nullable DelayLine[] lines = new DelayLine[EndpointParameters.MOST_LINKS];
  private final long[] delayNs = new long[EndpointParameters.MOST_LINKS];
  private @Nullable Arena arena;
  private final int[] longest = new int[EndpointParameters.MOST_LINKS];
  private LongPredicate sieve = packet -> true;
  private LongPredicate detained = packet -> false;
  private boolean isDetaining;
  private @Nullable DelayLine detainees;
  private long lost;
  private long tooLong;
  private boolean open;

  {
    java.util.Arrays.fill(longest, Integer.MAX_VALUE);
  }

  /** Nothing comes over this link any more, or everything does again. */
  void cut(int link, boolean on) {
    cut[link] = on;
  }

  /** Packets that are longer, from BTH to ICRC, don't come over this link. */
  void narrow(int link, int bytes) {
    longest[link] = bytes;
  }

  /** Packets, by their addresses, that pass; the others don't come, over whatever link. */
  void sieve(LongPredicate passes) {
    sieve = passes;
  }

  /** Packets, by their addresses, that come once {@link #letGo} is called. */
  void detain(LongPredicate which) {
    detained = which;
    isDetaining = true;
    detainees = new DelayLine(java.util.Objects.requireNonNull(arena));
  }

  void letGo() {
    isDetaining = false;
  }

  /** Packets that were longer. */
  long tooLong() {
    return tooLong;
  }

  /** What comes over this link takes so much longer. */
  void delay(int link, long nanoseconds) {
    delayNs[link] = nanoseconds;
    lines[link] = new DelayLine(java.util.Objects.requireNonNull(arena));
  }

  /** There are no faults, and the engine need not ask. */
  void open() {
    open = true;
  }

  /** Packets that met a cut. */
  long lost() {
    return lost;
  }

  /** The gate that has these faults first, then those. */
  PacketGate before(Arena of, @Nullable Faults drawn) {
    arena = of;
    PacketGate behind = drawn == null ? PacketGate.OPEN : new FaultGate(of, drawn);
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
        int link = (int) (low & 0xff) / HOSTS;
        if (link < cut.length && cut[link]) {
          lost++;
          return false;
        }
        if (link < longest.length && bytes > longest[link]) {
          tooLong++;
          return false;
        }
        if (!sieve.test(packet)) {
          return false;
        }
        if (isDetaining && detainees != null && detained.test(packet)) {
          detainees.add(packet, bytes, high, low, port, nowNs);
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
      public int release(PacketSink sink, long nowNs) {
        int released = behind.release(sink, nowNs);
        if (detainees != null && !isDetaining) {
          released += detainees.release(sink, nowNs);
        }
        for (DelayLine line : lines) {
          if (line != null) {
            released += line.release(sink, nowNs);
            sink.timerAt(line.dueNs());
          }
        }
        return released;
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
      public boolean leaves() {
        return behind.leaves();
      }
    };
  }
}
