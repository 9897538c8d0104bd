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
 * Inline functions of verbs.h: each loads a function pointer from the context's ops and calls it.
 * The pointers never change while the context is open, so callers read them once.
 *
 * <p>Addresses are passed as {@code long}: with segments each call costs 2 to 4 ns more. {@code
 * poll_cq} stays in user space in every provider, so it is called without a thread state
 * transition. rxe's {@code post_send} makes a system call, during which a safepoint must be
 * possible.
 */
final class DataPath {
  private static final Linker LINKER = Linker.nativeLinker();
  private static final MethodHandle POST =
      LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final FunctionDescriptor POLL_SHAPE =
      FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);
  private static final MethodHandle POLL =
      LINKER.downcallHandle(POLL_SHAPE, Linker.Option.critical(false));

  /* Set before the class First is initialised, which reads this field once. */
  private static volatile long firstPoll;

  private DataPath() {}

  static MemorySegment postSendOf(long context) {
    return function(context, ibv_context_ops.post_send$offset());
  }

  static MemorySegment postReceiveOf(long context) {
    return function(context, ibv_context_ops.post_recv$offset());
  }

  /**
   * Calls ibv_poll_cq of the process's first context, which usually serves all contexts: a constant
   * target is cheaper than a variable one. Returns the number of completions written to {@code
   * completions}, or a negative value.
   */
  static int pollFirst(long completionQueue, int most, long completions) {
    try {
      return (int) First.CALL.invokeExact(completionQueue, most, completions);
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  /**
   * Calls another context's ibv_poll_cq. Returns the number of completions written to {@code
   * completions}, or a negative value.
   */
  static int poll(MemorySegment function, long completionQueue, int most, long completions) {
    try {
      return (int) POLL.invokeExact(function, completionQueue, most, completions);
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  /** Returns whether {@link #pollFirst} calls this function. */
  static boolean isFirstPoll(MemorySegment function) {
    return function.address() == First.ADDRESS;
  }

  private static final class First {
    static final long ADDRESS = firstPoll;
    static final MethodHandle CALL =
        LINKER.downcallHandle(
            MemorySegment.ofAddress(ADDRESS), POLL_SHAPE, Linker.Option.critical(false));
  }

  /** Returns a context's ibv_poll_cq. */
  static MemorySegment pollOf(long context) {
    MemorySegment function = function(context, ibv_context_ops.poll_cq$offset());
    firstPoll = function.address();
    return function;
  }

  private static MemorySegment function(long context, long offset) {
    return MemorySegment.ofAddress(
        Memory.ALL.get(Memory.NATIVE_LONG, context + ibv_context.ops$offset() + offset));
  }

  /**
   * Calls ibv_post_send or ibv_post_recv. Returns 0, or an errno value with the first refused
   * request in {@code firstRefused}.
   */
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
