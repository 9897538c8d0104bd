package io.heddle.verbs.libibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.heddle.jextract.ibv_context;
import io.heddle.jextract.ibv_context_ops;
import io.heddle.platform.Memory;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * What verbs.h does inline: a load of a function pointer from the context's ops, then a call. The
 * pointers are set when the context is opened and don't change, so whoever needs one reads it once.
 *
 * <p>Addresses travel as {@code long}: with segments each call costs 2 to 4 ns more. {@code
 * poll_cq} stays in user space in every provider, so it is called without a change of the thread's
 * state; {@code post_send} of rxe makes a system call, during which a safepoint must be possible.
 */
final class DataPath {
  private static final Linker LINKER = Linker.nativeLinker();
  private static final MethodHandle POST =
      LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final FunctionDescriptor POLL_SHAPE =
      FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);
  private static final MethodHandle POLL =
      LINKER.downcallHandle(POLL_SHAPE, Linker.Option.critical(false));

  /* Set before First is initialised, which reads it once. */
  private static volatile long firstPoll;

  private DataPath() {}

  static MemorySegment postSendOf(long context) {
    return function(context, ibv_context_ops.post_send$offset());
  }

  static MemorySegment postReceiveOf(long context) {
    return function(context, ibv_context_ops.post_recv$offset());
  }

  /**
   * ibv_poll_cq of the process's first context, which mostly is that of all: a call whose target is
   * constant costs less than one whose target is an argument. How many completions were written to
   * {@code completions}, or less than 0.
   */
  static int pollFirst(long completionQueue, int most, long completions) {
    try {
      return (int) First.CALL.invokeExact(completionQueue, most, completions);
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  /** The same of a context whose ibv_poll_cq is another. */
  static int poll(MemorySegment function, long completionQueue, int most, long completions) {
    try {
      return (int) POLL.invokeExact(function, completionQueue, most, completions);
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  /** Whether {@link #pollFirst} calls this. */
  static boolean isFirstPoll(MemorySegment function) {
    return function.address() == First.ADDRESS;
  }

  private static final class First {
    static final long ADDRESS = firstPoll;
    static final MethodHandle CALL =
        LINKER.downcallHandle(
            MemorySegment.ofAddress(ADDRESS), POLL_SHAPE, Linker.Option.critical(false));
  }

  /** A context's ibv_poll_cq. */
  static MemorySegment pollOf(long context) {
    MemorySegment function = function(context, ibv_context_ops.poll_cq$offset());
    firstPoll = function.address();
    return function;
  }

  private static MemorySegment function(long context, long offset) {
    return MemorySegment.ofAddress(
        Memory.ALL.get(Memory.NATIVE_LONG, context + ibv_context.ops$offset() + offset));
  }

  /** ibv_post_send and ibv_post_recv: 0 or an errno value, and then the first request refused. */
  static int post(MemorySegment function, long queuePair, long first, long firstRefused) {
    try {
      return (int) POST.invokeExact(function, queuePair, first, firstRefused);
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  private static RuntimeException unexpected(Throwable thrown) {
    return thrown instanceof RuntimeException runtime ? runtime : new IllegalStateException(thrown);
  }
}
