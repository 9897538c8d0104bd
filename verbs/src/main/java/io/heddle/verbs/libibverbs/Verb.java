package io.heddle.verbs.libibverbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Functions of libibverbs for the control path. All arguments are {@code long}, so there is one
 * call shape per number of arguments: each distinct shape costs start-up time.
 *
 * <p>{@link #attempt} returns the result or a negated errno, for every form of error report; {@link
 * #call} throws.
 */
enum Verb {
  FORK_INIT(0, Report.ERRNO_VALUE),
  GET_DEVICE_LIST(1, Report.POINTER),
  FREE_DEVICE_LIST(1, Report.NOTHING),
  OPEN_DEVICE(1, Report.POINTER),
  CLOSE_DEVICE(1, Report.MINUS_ONE),
  QUERY_DEVICE(2, Report.ERRNO_VALUE),
  QUERY_PORT(3, Report.ERRNO_VALUE),
  QUERY_GID(4, Report.MINUS_ONE),
  QUERY_PKEY(4, Report.MINUS_ONE),
  QUERY_GID_EX("_ibv_query_gid_ex", 6, Report.ERRNO_VALUE),
  QUERY_GID_TABLE("_ibv_query_gid_table", 5, Report.NEGATIVE_ERRNO),
  ALLOC_PD(1, Report.POINTER),
  DEALLOC_PD(1, Report.ERRNO_VALUE),
  REG_MR(4, Report.POINTER),
  REG_MR_IOVA2(5, Report.POINTER),
  REG_DMABUF_MR(6, Report.POINTER),
  DEREG_MR(1, Report.ERRNO_VALUE),
  CREATE_COMP_CHANNEL(1, Report.POINTER),
  DESTROY_COMP_CHANNEL(1, Report.ERRNO_VALUE),
  GET_CQ_EVENT(3, Report.MINUS_ONE),
  ACK_CQ_EVENTS(2, Report.NOTHING),
  CREATE_CQ(5, Report.POINTER),
  DESTROY_CQ(1, Report.ERRNO_VALUE),
  CREATE_QP(2, Report.POINTER),
  MODIFY_QP(3, Report.ERRNO_VALUE),
  QUERY_QP(4, Report.ERRNO_VALUE),
  DESTROY_QP(1, Report.ERRNO_VALUE),
  CREATE_AH(2, Report.POINTER),
  DESTROY_AH(1, Report.ERRNO_VALUE),
  ATTACH_MCAST(3, Report.ERRNO_VALUE),
  DETACH_MCAST(3, Report.ERRNO_VALUE),
  GET_ASYNC_EVENT(2, Report.MINUS_ONE),
  ACK_ASYNC_EVENT(1, Report.NOTHING);

  /** Form in which a function reports a failure. */
  enum Report {
    /** The function returns NULL, with the reason in errno. */
    POINTER,
    /** The function returns −1, with the reason in errno. */
    MINUS_ONE,
    /** The function returns the errno value. */
    ERRNO_VALUE,
    /** The function returns the negated errno value, or a count. */
    NEGATIVE_ERRNO,
    /** The function can't fail. */
    NOTHING
  }

  /** SONAME of the library: no development package is needed at run time. */
  static final String LIBRARY = "libibverbs.so.1";

  private static final Linker LINKER = Linker.nativeLinker();
  private static final VarHandle ERRNO =
      Linker.Option.captureStateLayout().varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private final String symbol;
  private final int arguments;
  private final Report report;
  private @Nullable MethodHandle handle;

  Verb(int arguments, Report report) {
    this("", arguments, report);
  }

  /*
   * Creates the constant of an inline function of verbs.h. The library's function that it calls has
   * another name, and the size of the caller's struct as an additional argument.
   */
  Verb(String symbol, int arguments, Report report) {
    this.symbol = symbol;
    this.arguments = arguments;
    this.report = report;
  }

  /* Library, opened at first use and never closed, since it has threads and handlers of its own. */
  private static final class Library {
    static final Optional<SymbolLookup> LOOKUP = open();

    private static Optional<SymbolLookup> open() {
      try {
        return Optional.of(SymbolLookup.libraryLookup(LIBRARY, Arena.global()));
      } catch (IllegalArgumentException absent) {
        return Optional.empty();
      }
    }
  }

  /** Returns whether the library can be opened on this host. */
  static boolean isLibraryPresent() {
    return Library.LOOKUP.isPresent();
  }

  private Optional<MemorySegment> address() {
    return Library.LOOKUP.flatMap(library -> library.find(symbol()));
  }

  /** Returns whether this host's library has the function; older ones lack newer functions. */
  boolean isPresent() {
    return address().isPresent();
  }

  /** Returns the function itself, for callers that may not allocate. */
  MemorySegment function() {
    return address()
        .orElseThrow(() ->
            new VerbsException(verb(), LIBRARY + ", which lacks this function", Errno.ENOSYS));
  }

  int arguments() {
    return arguments;
  }

  Report report() {
    return report;
  }

  /** Returns the function's symbol in the library. */
  String symbol() {
    return symbol.isEmpty() ? "ibv_" + verb() : symbol;
  }

  /** Returns the verb's name without its prefix, for error messages. */
  String verb() {
    return name().toLowerCase(Locale.ROOT);
  }

  private synchronized MethodHandle handle() {
    MethodHandle linked = handle;
    if (linked == null) {
      MemoryLayout[] layouts = new MemoryLayout[arguments];
      Arrays.fill(layouts, JAVA_LONG);
      linked =
          LINKER
              .downcallHandle(
                  function(),
                  FunctionDescriptor.of(JAVA_LONG, layouts),
                  Linker.Option.captureCallState("errno"))
              .asSpreader(long[].class, arguments);
      handle = linked;
    }
    return linked;
  }

  /** Calls the function; returns the function's result, or the negated errno. */
  long attempt(long... values) {
    MemorySegment capture = LinuxCalls.errnoCapture();
    long result;
    try {
      result = (long) handle().invokeExact(capture, values);
    } catch (Throwable thrown) {
      throw thrown instanceof RuntimeException runtime
          ? runtime
          : new IllegalStateException(symbol(), thrown);
    }
    int errno = (int) ERRNO.get(capture, 0L);
    /* C functions that return int leave the upper half of the register undefined. */
    return switch (report) {
      case POINTER -> result == 0 ? -positive(errno) : result;
      case MINUS_ONE -> (int) result == -1 ? -positive(errno) : (int) result;
      case ERRNO_VALUE -> -Math.abs((int) result);
      case NEGATIVE_ERRNO -> result;
      case NOTHING -> 0;
    };
  }

  /* Replaces an errno of 0: some providers fail without setting errno. */
  private static int positive(int errno) {
    return errno == 0 ? Errno.EIO : errno;
  }

  /**
   * Calls the function and throws if it fails.
   *
   * @param object object of the call, with the arguments' values, for the error message
   * @throws VerbsException with errno and remedy
   */
  long call(String object, long... values) {
    long result = attempt(values);
    if (result < 0) {
      throw failure(object, (int) -result);
    }
    return result;
  }

  VerbsException failure(String object, int errno) {
    return new VerbsException(verb(), object, errno, ErrorRemedies.forError(this, errno));
  }
}
