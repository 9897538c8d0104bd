package io.heddle.transport.data;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.heddle.platform.Memory;
import io.heddle.transport.control.ControlMessage.Arrival;
import io.heddle.transport.control.ControlMessage.Fenced;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * State of the chunks of each message in flight: to be posted, outstanding on the sub-flow that
 * posted them last, or acknowledged. Owned by the holder of the sender's {@link Baton}.
 */
final class SentChunks {
  private static final int MAX_CHUNKS = 64;

  private final int planes;
  private long[] group = {};
  private int[] immediateBase = {};
  private int[] chunks = {};
  private long[] toPost = {};
  private long[] outstanding = {};
  /*
   * Address of the table of chunks' sub-flows: for each chunk of each message a byte with the index
   * of the sub-flow that posted the chunk last.
   */
  private final long carriers;

  /**
   * @param planes number of the connection's planes; sub-flow i is on plane i modulo this number
   * @param carriers address of {@link #carrierBytes} of memory for the sub-flow of each chunk
   */
  SentChunks(int planes, long carriers) {
    this.carriers = carriers;
    this.planes = planes;
  }

  /** Makes room for this many messages in flight, no fewer than before. */
  void makeRoom(int lines) {
    group = Arrays.copyOf(group, lines);
    immediateBase = Arrays.copyOf(immediateBase, lines);
    chunks = Arrays.copyOf(chunks, lines);
    toPost = Arrays.copyOf(toPost, lines);
    outstanding = Arrays.copyOf(outstanding, lines);
  }

  /** Returns the size in bytes of the table of chunks' sub-flows for this many messages. */
  static int carrierBytes(int lines) {
    return lines * MAX_CHUNKS;
  }

  private long carrier(int line, int chunk) {
    return carriers + line * MAX_CHUNKS + chunk;
  }

  /** Begins a message: all its chunks are to be posted. */
  void begin(int line, long groupNumber, int immediate, int count) {
    group[line] = groupNumber;
    immediateBase[line] = immediate;
    chunks[line] = count;
    toPost[line] = -1L >>> MAX_CHUNKS - count;
    outstanding[line] = 0;
  }

  /** Returns the message's chunks that are to be posted, bit i for chunk i. */
  long toPost(int line) {
    return toPost[line];
  }

  int count(int line) {
    return chunks[line];
  }

  /** Returns the immediate of one chunk. */
  int immediate(int line, int chunk) {
    return immediateBase[line] | chunk << 11;
  }

  void posted(int line, int chunk, int flow) {
    long bit = 1L << chunk;
    toPost[line] &= ~bit;
    outstanding[line] |= bit;
    Memory.ALL.set(JAVA_BYTE, carrier(line, chunk), (byte) flow);
  }

  /** Records an acknowledgement. Returns whether the message is complete now. */
  boolean acknowledged(int line, int chunk) {
    outstanding[line] &= ~(1L << chunk);
    return isDone(line);
  }

  /** Returns whether all of the message is acknowledged. */
  boolean isDone(int line) {
    return (outstanding[line] | toPost[line]) == 0;
  }

  /**
   * Checks the receiver's Fenced message for contradictions, and changes nothing. The message
   * describes the receiver at the moment of its fence: since then, a slot may have got another
   * group.
   *
   * @param next number of the group that the sender will match next; no group from this number on
   *     is complete
   * @param begun number of the first group of which nothing was sent yet: {@code next} or the one
   *     after it
   * @return the contradiction; null where there is none
   */
  @Nullable String describeContradiction(Fenced fenced, int plane, long next, long begun) {
    if (fenced.oldest() < 0
        || fenced.oldest() > next
        || fenced.next() < fenced.oldest()
        || fenced.next() - fenced.oldest() > ClearToSend.GROUPS) {
      return "groups %s to %s are open there, but %s is the next to be sent"
          .formatted(fenced.oldest(), fenced.next(), next);
    }
    Map<Integer, Arrival> arrivals = new HashMap<>();
    for (Arrival each : fenced.arrivals()) {
      long of = groupOf(each, fenced);
      if (of >= fenced.next() || of >= begun) {
        return "slot %s has something, but groups %s to %s are open there, and %s is the next to be sent"
            .formatted(each.slot(), fenced.oldest(), fenced.next(), next);
      }
      if (arrivals.put(key(each.slot(), each.receive()), each) != null) {
        return "receive %s of slot %s is named twice".formatted(each.receive(), each.slot());
      }
    }
    for (int line = 0; line < group.length; line++) {
      if (isDone(line) || !wasOpen(group[line], fenced)) {
        continue;
      }
      String wrong = describeContradiction(line, arrivals.get(keyOf(line)), plane);
      if (wrong != null) {
        return wrong;
      }
    }
    return null;
  }

  /*
   * Returns the group that the arrival's slot could hold when the receiver was fenced; it may be
   * past the last open group.
   */
  private static long groupOf(Arrival arrival, Fenced fenced) {
    return fenced.oldest() + (arrival.slot() - fenced.oldest() & ClearToSend.GROUPS - 1);
  }

  private static boolean wasOpen(long group, Fenced fenced) {
    return group >= fenced.oldest() && group < fenced.next();
  }

  private @Nullable String describeContradiction(int line, @Nullable Arrival arrivals, int plane) {
    long arrived = arrivals == null ? 0 : arrivals.chunks();
    long all = -1L >>> MAX_CHUNKS - chunks[line];
    String name =
        "receive %s of slot %s"
            .formatted(Immediate.receive(immediateBase[line]), Immediate.slot(immediateBase[line]));
    if (arrivals != null
        && (arrivals.count() != chunks[line]
            || arrivals.generation() != Immediate.generation(immediateBase[line]))) {
      return "%s has generation %s and %s chunks there, %s and %s here"
          .formatted(
              name,
              arrivals.generation(),
              arrivals.count(),
              Immediate.generation(immediateBase[line]),
              chunks[line]);
    }
    if ((arrived & (~all | toPost[line])) != 0) {
      return "%s has chunks %#x there, of %s, and %#x weren't sent yet"
          .formatted(name, arrived, chunks[line], toPost[line]);
    }
    for (int chunk = 0; chunk < chunks[line]; chunk++) {
      long bit = 1L << chunk;
      boolean acknowledged = ((toPost[line] | outstanding[line]) & bit) == 0;
      if ((arrived & bit) == 0 && acknowledged && planeOf(line, chunk) == plane) {
        return "chunk %s of %s was acknowledged and is missing there".formatted(chunk, name);
      }
    }
    return null;
  }

  /** Returns whether chunks of this message are outstanding on this plane. */
  boolean isOutstandingOn(int line, int plane) {
    for (long left = outstanding[line]; left != 0; left &= left - 1) {
      if (planeOf(line, Long.numberOfTrailingZeros(left)) == plane) {
        return true;
      }
    }
    return false;
  }

  /**
   * Settles the outstanding chunks of a fenced plane: those that have arrived count as
   * acknowledged, and the others are to be posted again. No chunk of a group that was opened after
   * the fence has arrived on this plane.
   *
   * @return the chunks that are to be posted again, bit i for chunk i
   */
  long settle(int line, Fenced fenced, int plane) {
    long arrived = 0;
    if (group[line] < fenced.oldest()) {
      arrived = -1L;
    } else if (wasOpen(group[line], fenced)) {
      for (Arrival each : fenced.arrivals()) {
        if (key(each.slot(), each.receive()) == keyOf(line)) {
          arrived = each.chunks();
        }
      }
    }
    long missing = 0;
    for (long left = outstanding[line]; left != 0; left &= left - 1) {
      long bit = Long.lowestOneBit(left);
      if (planeOf(line, Long.numberOfTrailingZeros(bit)) == plane) {
        outstanding[line] &= ~bit;
        if ((arrived & bit) == 0) {
          toPost[line] |= bit;
          missing |= bit;
        }
      }
    }
    return missing;
  }

  boolean isOutstanding(int line, int chunk) {
    return (outstanding[line] & 1L << chunk) != 0;
  }

  /** Returns the plane that a chunk was posted on last. */
  int planeOf(int line, int chunk) {
    return Memory.ALL.get(JAVA_BYTE, carrier(line, chunk)) % planes;
  }

  private int keyOf(int line) {
    return key(Immediate.slot(immediateBase[line]), Immediate.receive(immediateBase[line]));
  }

  private static int key(int slot, int receive) {
    return slot << 3 | receive;
  }
}
