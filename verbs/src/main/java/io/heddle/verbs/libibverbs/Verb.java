package io.heddle.verbs.libibverbs;

import io.heddle.platform.Errno;
import io.heddle.platform.NativeFunction;
import io.heddle.platform.NativeLibrary;
import io.heddle.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.Locale;

/**
 * Functions of libibverbs for the control path.
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
  QUERY_PORT_SPEED(3, Report.ERRNO_VALUE), /* since rdma-core 62 */
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

  private final NativeFunction function;
  private final Report report;

  Verb(int arguments, Report report) {
    this("", arguments, report);
  }

  /*
   * Creates the constant of an inline function of verbs.h. The library's function that it calls has
   * another name, and the size of the caller's struct as an additional argument.
   */
  Verb(String symbol, int arguments, Report report) {
    function = Library.OWN.function(symbol.isEmpty() ? "ibv_" + verb() : symbol, arguments);
    this.report = report;
  }

  /* The constants' constructors can't use static fields of the enum itself. */
  private static final class Library {
    static final NativeLibrary OWN = new NativeLibrary(LIBRARY);
  }

  /** Returns whether the library can be opened on this host. */
  static boolean isLibraryPresent() {
    return Library.OWN.isPresent();
  }

  /** Returns whether this host's library has the function; older ones lack newer functions. */
  boolean isPresent() {
    return function.isPresent();
  }

  /** Returns the function itself, for callers that may not allocate. */
  MemorySegment function() {
    requirePresent();
    return function.address();
  }

  private void requirePresent() {
    if (!function.isPresent()) {
      throw new VerbsException(verb(), LIBRARY + ", which lacks this function", Errno.ENOSYS);
    }
  }

  int arguments() {
    return function.arguments();
  }

  Report report() {
    return report;
  }

  /** Returns the function's symbol in the library. */
  String symbol() {
    return function.symbol();
  }

  /** Returns the verb's name without its prefix, for error messages. */
  String verb() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Calls the function; returns the function's result, or the negated errno. */
  long attempt(long... values) {
    requirePresent();
    long result = function.call(values);
    /* C functions that return int leave the upper half of the register undefined. */
    return switch (report) {
      case POINTER -> result == 0 ? -NativeFunction.errno() : result;
      case MINUS_ONE -> (int) result == -1 ? -NativeFunction.errno() : (int) result;
      case ERRNO_VALUE -> -Math.abs((int) result);
      case NEGATIVE_ERRNO -> result;
      case NOTHING -> 0;
    };
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
