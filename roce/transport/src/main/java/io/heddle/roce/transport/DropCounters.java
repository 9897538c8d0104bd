package io.heddle.roce.transport;

import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.DeviceContext.CounterReader;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Counters of dropped packets, by reason. Written under the progress lock, read by any thread. */
public final class DropCounters {
  /** Reason for dropping a packet. */
  public enum Reason {
    TOO_SHORT,
    UNKNOWN_OPCODE,
    MANAGEMENT,
    BAD_HEADER,
    WRONG_PARTITION,
    UNKNOWN_QUEUE_PAIR,
    WRONG_STATE,
    WRONG_SOURCE,
    BAD_CHECKSUM,
    BAD_LENGTH,
    OUT_OF_WINDOW,
    OUT_OF_ORDER,
    DUPLICATE,
    UNEXPECTED_RESPONSE,
    IN_FLIGHT_AFTER_ERROR;

    private final String counter = "dropped_" + name().toLowerCase(java.util.Locale.ROOT);
  }

  private static final Reason[] REASONS = Reason.values();

  private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] counts = new long[REASONS.length];

  public void count(Reason reason) {
    int at = reason.ordinal();
    ELEMENT.setOpaque(counts, at, (long) ELEMENT.getOpaque(counts, at) + 1);
  }

  /** Counts a packet with a wrong version or partition. */
  public void countHeader(long firstWord) {
    count(PacketFormat.isVersionRight(firstWord) ? Reason.WRONG_PARTITION : Reason.BAD_HEADER);
  }

  void read(CounterReader reader) {
    for (Reason reason : REASONS) {
      reader.counter(reason.counter, get(reason));
    }
  }

  public long get(Reason reason) {
    return (long) ELEMENT.getOpaque(counts, reason.ordinal());
  }
}
