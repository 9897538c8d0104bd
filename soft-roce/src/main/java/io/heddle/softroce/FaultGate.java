package io.heddle.softroce;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A bad network on purpose, for tests and for the curious: {@code
 * HEDDLE_SOFT_FAULTS=loss=0.01,duplicate=0.01,reorder=0.01,corrupt=0.01,seed=7}. Each packet that
 * arrives meets at most one fault, drawn by a generator that the seed starts. Under the progress
 * lock.
 */
final class FaultGate implements PacketGate {
  static final String VARIABLE = "HEDDLE_SOFT_FAULTS";

  private static final List<String> NAMES =
      List.of("loss", "duplicate", "reorder", "corrupt", "seed");
  private static final int HELD = 64;
  private static final int SLOT_BYTES = 4608;
  private static final long HOLD_NS = 300_000;

  /**
   * What is wished, as shares of all packets.
   *
   * @param seed start of the generator
   */
  record Faults(double loss, double duplicate, double reorder, double corrupt, long seed) {
    /** Null for an unset or blank value. */
    static @Nullable Faults parse(@Nullable String value) {
      if (value == null || value.isBlank()) {
        return null;
      }
      double[] shares = new double[4];
      long seed = 1;
      for (String part : value.split(",", -1)) {
        int equals = part.indexOf('=');
        int name = NAMES.indexOf(equals < 0 ? part.strip() : part.substring(0, equals).strip());
        if (equals < 0 || name < 0) {
          throw refused(part, "is not one of " + String.join(", ", NAMES) + " with =value");
        }
        String text = part.substring(equals + 1).strip();
        try {
          if (name == 4) {
            seed = Long.parseLong(text);
          } else {
            shares[name] = Double.parseDouble(text);
          }
        } catch (NumberFormatException notANumber) {
          throw refused(part, "has no number behind =");
        }
        if (name < 4 && !(shares[name] >= 0 && shares[name] <= 0.5)) {
          throw refused(part, "is a share outside 0 to 0.5");
        }
      }
      return new Faults(shares[0], shares[1], shares[2], shares[3], seed);
    }

    private static HeddleException refused(String part, String why) {
      return new HeddleException(
          String.format(
              Locale.ROOT,
              "%s: \"%s\" %s; example: loss=0.01,reorder=0.01,seed=7",
              VARIABLE,
              part,
              why));
    }
  }

  private final int loss;
  private final int duplicate;
  private final int reorder;
  private final int corrupt;
  private long random;

  private final long slots;
  private final ByteBuffer view;
  private final int[] bytes = new int[HELD];
  private final long[] highs = new long[HELD];
  private final long[] lows = new long[HELD];
  private final int[] ports = new int[HELD];
  private final long[] dues = new long[HELD];
  private int heldCount;

  FaultGate(Arena arena, Faults faults) {
    /* Thresholds of 24 random bits, each on top of the one before. */
    loss = (int) (faults.loss() * (1 << 24));
    duplicate = loss + (int) (faults.duplicate() * (1 << 24));
    reorder = duplicate + (int) (faults.reorder() * (1 << 24));
    corrupt = reorder + (int) (faults.corrupt() * (1 << 24));
    random = faults.seed() * 0x9e3779b97f4a7c15L | 1;
    slots = Memory.allocate(arena, (long) HELD * SLOT_BYTES, 64);
    view = Memory.ALL.asSlice(slots, (long) HELD * SLOT_BYTES).asByteBuffer();
  }

  private long draw() {
    random ^= random << 13;
    random ^= random >>> 7;
    random ^= random << 17;
    return random;
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
      hold(packet, packetBytes, high, low, port, nowNs);
      return true;
    }
    if (drawn < reorder) {
      return !hold(packet, packetBytes, high, low, port, nowNs + HOLD_NS);
    }
    if (drawn < corrupt) {
      int bit = (int) ((draw() >>> 1) % (packetBytes * 8L));
      byte was = Memory.ALL.get(ValueLayout.JAVA_BYTE, packet + (bit >> 3));
      Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + (bit >> 3), (byte) (was ^ 1 << (bit & 7)));
    }
    return true;
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
  public int release(Engine engine, long nowNs) {
    if (heldCount == 0) {
      return 0;
    }
    int released = 0;
    for (int i = 0; i < HELD; i++) {
      if (bytes[i] != 0 && nowNs - dues[i] >= 0) {
        engine.onPacket(
            view,
            slots,
            slots + (long) i * SLOT_BYTES,
            bytes[i],
            highs[i],
            lows[i],
            ports[i],
            nowNs);
        bytes[i] = 0;
        heldCount--;
        released++;
      } else if (bytes[i] != 0) {
        engine.timerAt(dues[i]);
      }
    }
    return released;
  }

  @Override
  public long dueNs() {
    long due = Requester.NEVER_NS;
    for (int i = 0; heldCount > 0 && i < HELD; i++) {
      if (bytes[i] != 0) {
        due = Math.min(due, dues[i]);
      }
    }
    return due;
  }
}
