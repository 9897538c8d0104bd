package io.heddle.verbs.libibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.heddle.jextract.ibv_context;
import io.heddle.jextract.verbs_context;
import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Rate of a port's link, from the best source that library, kernel and driver have.
 *
 * <ol>
 *   <li>ibv_query_port_speed, which also knows aggregated links.
 *   <li>{@code active_speed_ex} of ibv_port_attr, since rdma-core 49: wide enough for XDR.
 *   <li>{@code active_speed}, one byte: up to NDR.
 * </ol>
 */
final class PortSpeed {
  private static final long UNIT_BITS_PER_SECOND = 100_000_000;
  private static final int NDR = 128;

  /* ibv_port_attr since rdma-core 49. Older libraries fill the bytes that they know. */
  private static final int ATTRIBUTE_BYTES = 56;
  private static final int ACTIVE_SPEED_EX = 52;

  /* Value of ibv_context.abi_compat in a verbs_context (__VERBS_ABI_IS_EXTENDED). */
  private static final long EXTENDED = -1;

  /* Linked only for ports that may be faster than NDR: a call shape costs start-up time. */
  private static final class WideQuery {
    static final MethodHandle CALL =
        Linker.nativeLinker()
            .downcallHandle(
                FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
  }

  private PortSpeed() {}

  /**
   * Returns the payload rate of a port's link.
   *
   * @param context address of the {@code ibv_context}
   * @param width {@code active_width} of ibv_port_attr
   * @param speed {@code active_speed} of ibv_port_attr
   */
  static long bitsPerSecond(long context, int port, int width, int speed) {
    long reported = reportedUnits(context, port);
    if (reported > 0) {
      return reported * UNIT_BITS_PER_SECOND;
    }
    /* Faster ports don't fit in active_speed: the kernel reports 0 or NDR there. */
    int wide = speed == 0 || speed == NDR ? wideSpeed(context, port) : 0;
    return lanes(width) * laneBitsPerSecond(wide == 0 ? speed : wide);
  }

  /*
   * Returns the rate in units of 100 Mbit/s, or 0 if the library lacks the function or the kernel
   * refuses it (EPROTONOSUPPORT or EOPNOTSUPP).
   */
  private static long reportedUnits(long context, int port) {
    if (!Verb.QUERY_PORT_SPEED.isPresent()) {
      return 0;
    }
    try (Arena arena = Arena.ofConfined()) {
      long units = Memory.allocate(arena, Long.BYTES, Long.BYTES);
      return Verb.QUERY_PORT_SPEED.attempt(context, port, units) == 0
          ? Memory.ALL.get(Memory.NATIVE_LONG, units)
          : 0;
    }
  }

  /*
   * Returns active_speed_ex, or 0 if there is none. As the macro ibv_query_port does, this calls the
   * function of the verbs_context, which lies around the ibv_context and grows at its front.
   */
  private static int wideSpeed(long context, int port) {
    long outer = context - verbs_context.context$offset();
    long sinceField = verbs_context.sizeof() - verbs_context.query_port$offset();
    if (Memory.ALL.get(Memory.NATIVE_LONG, context + ibv_context.abi_compat$offset()) != EXTENDED
        || Memory.ALL.get(Memory.NATIVE_LONG, outer + verbs_context.sz$offset()) < sinceField) {
      return 0;
    }
    long function = Memory.ALL.get(Memory.NATIVE_LONG, outer + verbs_context.query_port$offset());
    if (function == 0) {
      return 0;
    }
    try (Arena arena = Arena.ofConfined()) {
      long attributes = Memory.allocate(arena, ATTRIBUTE_BYTES, Long.BYTES);
      int failure =
          (int)
              WideQuery.CALL.invokeExact(
                  MemorySegment.ofAddress(function),
                  context,
                  port,
                  attributes,
                  (long) ATTRIBUTE_BYTES);
      return failure == 0 ? Memory.ALL.get(Memory.NATIVE_INT, attributes + ACTIVE_SPEED_EX) : 0;
    } catch (Throwable thrown) {
      throw new AssertionError("a downcall to query_port of libibverbs throws nothing", thrown);
    }
  }

  /* Returns the number of lanes; the width is one bit of IB_WIDTH_*. */
  private static int lanes(int width) {
    return switch (width) {
      case 2 -> 4;
      case 4 -> 8;
      case 8 -> 12;
      case 16 -> 2;
      default -> 1;
    };
  }

  /*
   * Returns the payload rate of a lane; the speed is one bit of IB_SPEED_*, from SDR to XDR. Unknown
   * values count as SDR.
   */
  private static long laneBitsPerSecond(int speed) {
    return switch (speed) {
      case 2 -> 5_000_000_000L;
      case 4, 8 -> 10_000_000_000L;
      case 16 -> 14_000_000_000L;
      case 32 -> 25_000_000_000L;
      case 64 -> 50_000_000_000L;
      case NDR -> 100_000_000_000L;
      case 256 -> 200_000_000_000L;
      default -> 2_500_000_000L;
    };
  }
}
