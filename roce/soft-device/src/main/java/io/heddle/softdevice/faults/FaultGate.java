package io.heddle.softdevice.faults;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.Pause;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.softdevice.io.HeldPacket;
import io.heddle.softdevice.io.PacketGate;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Fault injection for tests, configured by {@link Faults}. Each received packet gets at most one
 * fault, drawn from a seeded generator; packets that are neither lost nor held then pass the delay
 * line, if any. Losses of sent packets have a separate generator, so that each direction is
 * repeatable by itself. Used under the progress lock.
 */
public final class FaultGate implements PacketGate {
  private static final int HELD = 64;

  /** Length of a slot for a held packet, in bytes. */
  static final int SLOT_BYTES = PacketSizes.LONGEST_PACKET_BYTES + 63 & ~63;

  private static final long HOLD_NS = 300_000;

  private final int loss;
  private final int duplicate;
  private final int reorder;
  private final int corrupt;
  private final int ghost;
  private final long ghostNs;
  private final long delayNs;
  private final @Nullable DelayLine line;
  private final @Nullable DelayLine ghosts;
  private long random;
  private final int sendLoss;
  private long outgoingRandom;

  private final long slots;
  private final HeldPacket released;
  private final int[] bytes = new int[HELD];
  private final long[] highs = new long[HELD];
  private final long[] lows = new long[HELD];
  private final int[] ports = new int[HELD];
  private final long[] dues = new long[HELD];
  private int heldCount;

  public FaultGate(Arena arena, Faults faults) {
    /* Cumulative thresholds for 24 random bits. */
    loss = (int) (faults.loss() * (1 << 24));
    duplicate = loss + (int) (faults.duplicate() * (1 << 24));
    reorder = duplicate + (int) (faults.reorder() * (1 << 24));
    corrupt = reorder + (int) (faults.corrupt() * (1 << 24));
    ghost = corrupt + (int) (faults.ghost() * (1 << 24));
    ghostNs = faults.ghostMs() * 1_000_000L;
    delayNs = faults.delayUs() * 1000L;
    line = delayNs == 0 ? null : new DelayLine(arena);
    ghosts = ghost == corrupt ? null : new DelayLine(arena);
    random = faults.seed() * 0x9e3779b97f4a7c15L | 1;
    sendLoss = (int) (faults.sendLoss() * (1 << 24));
    outgoingRandom = ~faults.seed() * 0x9e3779b97f4a7c15L | 1;
    slots = Memory.allocate(arena, (long) HELD * SLOT_BYTES, 64);
    released =
        new HeldPacket(Memory.ALL.asSlice(slots, (long) HELD * SLOT_BYTES).asByteBuffer(), slots);
  }

  private long draw() {
    random = next(random);
    return random;
  }

  private static long next(long state) {
    long drawn = state;
    drawn ^= drawn << 13;
    drawn ^= drawn >>> 7;
    drawn ^= drawn << 17;
    return drawn;
  }

  @Override
  public boolean dropsOutgoing() {
    return sendLoss > 0;
  }

  @Override
  public boolean passesOutgoing() {
    outgoingRandom = next(outgoingRandom);
    return (int) (outgoingRandom >>> 40) >= sendLoss;
  }

  @Override
  public boolean isOpen() {
    return false;
  }

  @Override
  public boolean passes(
      ByteBuffer area,
      long base,
      long packet,
      int packetBytes,
      long high,
      long low,
      int port,
      long nowNs) {
    int drawn = (int) (draw() >>> 40);
    if (drawn < loss) {
      return false;
    }
    if (drawn < duplicate) {
      hold(packet, packetBytes, high, low, port, nowNs + delayNs);
    } else if (drawn < reorder) {
      if (hold(packet, packetBytes, high, low, port, nowNs + delayNs + HOLD_NS)) {
        return false;
      }
    } else if (drawn < corrupt) {
      int bit = (int) ((draw() >>> 1) % (packetBytes * 8L));
      byte was = Memory.ALL.get(ValueLayout.JAVA_BYTE, packet + (bit >> 3));
      Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + (bit >> 3), (byte) (was ^ 1 << (bit & 7)));
    } else if (drawn < ghost && ghosts != null) {
      ghosts.add(packet, packetBytes, high, low, port, nowNs + vary(ghostNs));
      return false;
    }
    if (line == null) {
      return true;
    }
    line.add(packet, packetBytes, high, low, port, nowNs + vary(delayNs));
    return false;
  }

  /* Returns the time, varied by up to a quarter. */
  private long vary(long timeNs) {
    return timeNs - timeNs / 4 + ((draw() >>> 40) * (timeNs / 2) >> 24);
  }

  private boolean hold(long packet, int packetBytes, long high, long low, int port, long dueNs) {
    if (packetBytes > SLOT_BYTES) {
      return false;
    }
    for (int i = 0; i < HELD; i++) {
      if (bytes[i] == 0) {
        Memory.copy(packet, slots + (long) i * SLOT_BYTES, packetBytes);
        bytes[i] = packetBytes;
        highs[i] = high;
        lows[i] = low;
        ports[i] = port;
        dues[i] = dueNs;
        heldCount++;
        return true;
      }
    }
    return false;
  }

  @Override
  public @Nullable HeldPacket takeDue(long nowNs) {
    HeldPacket due = line == null ? null : line.takeDue(nowNs);
    if (due == null && ghosts != null) {
      due = ghosts.takeDue(nowNs);
    }
    return due == null ? takeHeld(nowNs) : due;
  }

  private @Nullable HeldPacket takeHeld(long nowNs) {
    for (int i = 0; heldCount > 0 && i < HELD; i++) {
      if (bytes[i] != 0 && nowNs - dues[i] >= 0) {
        released.address = slots + (long) i * SLOT_BYTES;
        released.bytes = bytes[i];
        released.sourceHigh = highs[i];
        released.sourceLow = lows[i];
        released.sourcePort = ports[i];
        bytes[i] = 0;
        heldCount--;
        return released;
      }
    }
    return null;
  }

  @Override
  public long dueNs() {
    long due = line == null ? Pause.NEVER_NS : line.dueNs();
    if (ghosts != null) {
      due = Math.min(due, ghosts.dueNs());
    }
    for (int i = 0; heldCount > 0 && i < HELD; i++) {
      if (bytes[i] != 0) {
        due = Math.min(due, dues[i]);
      }
    }
    return due;
  }
}
