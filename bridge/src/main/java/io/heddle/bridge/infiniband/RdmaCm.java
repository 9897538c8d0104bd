package io.heddle.bridge.infiniband;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Functions of librdmacm that the bridge needs, with all arguments as {@code long}. A function that
 * fails sets errno. The library is opened on first use, and never closed.
 */
enum RdmaCm {
  CREATE_EVENT_CHANNEL("rdma_create_event_channel", 0),
  DESTROY_EVENT_CHANNEL("rdma_destroy_event_channel", 1),
  CREATE_ID("rdma_create_id", 4),
  DESTROY_ID("rdma_destroy_id", 1),
  BIND_ADDR("rdma_bind_addr", 2),
  RESOLVE_ADDR("rdma_resolve_addr", 4),
  RESOLVE_ROUTE("rdma_resolve_route", 2),
  CONNECT("rdma_connect", 2),
  LISTEN("rdma_listen", 2),
  ACCEPT("rdma_accept", 2),
  REJECT("rdma_reject", 3),
  JOIN_MULTICAST("rdma_join_multicast", 3),
  JOIN_MULTICAST_EX("rdma_join_multicast_ex", 3),
  LEAVE_MULTICAST("rdma_leave_multicast", 2),
  GET_CM_EVENT("rdma_get_cm_event", 2),
  ACK_CM_EVENT("rdma_ack_cm_event", 1);

  static final String LIBRARY = "librdmacm.so.1";

  /** Port space of datagrams (RDMA_PS_UDP). */
  static final int DATAGRAMS = 0x0111;

  /*
   * Offsets in struct rdma_cm_id: own and peer socket address, partition key of the own address,
   * number of the port.
   */
  static final int ID_OWN_ADDRESS = 32;
  static final int ID_PEER_ADDRESS = 160;
  static final int ID_PARTITION_KEY = 320;
  static final int ID_PORT = 348;

  /* Offset in struct ibv_device. A struct ibv_context begins with a pointer to one. */
  static final int DEVICE_NAME = 24;

  /* Length of a struct rdma_conn_param, and offsets in it. */
  static final int PARAMETER_BYTES = 24;
  static final int PARAMETER_PRIVATE_BYTES = 8;
  static final int PARAMETER_NUMBER = 16;

  /* enum rdma_cm_event_type. */
  static final int ADDRESS_RESOLVED = 0;
  static final int ADDRESS_ERROR = 1;
  static final int ROUTE_RESOLVED = 2;
  static final int ROUTE_ERROR = 3;
  static final int CONNECT_REQUEST = 4;
  static final int CONNECT_ERROR = 6;
  static final int UNREACHABLE = 7;
  static final int REJECTED = 8;
  static final int ESTABLISHED = 9;
  static final int DEVICE_REMOVAL = 11;
  static final int MULTICAST_JOIN = 12;
  static final int MULTICAST_ERROR = 13;
  static final int ADDR_CHANGE = 14;

  private static final VarHandle ERRNO =
      Linker.Option.captureStateLayout().varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private final String symbol;
  private final int arguments;
  private @Nullable MethodHandle handle;

  RdmaCm(String symbol, int arguments) {
    this.symbol = symbol;
    this.arguments = arguments;
  }

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

  /** Returns whether the library can be opened on this machine. */
  static boolean libraryIsPresent() {
    return Library.LOOKUP.isPresent();
  }

  /** Returns whether this machine's library has the function. */
  boolean isPresent() {
    return Library.LOOKUP.flatMap(library -> library.find(symbol)).isPresent();
  }

  private synchronized MethodHandle handle() {
    MethodHandle linked = handle;
    if (linked == null) {
      MemorySegment function =
          Library.LOOKUP
              .flatMap(library -> library.find(symbol))
              .orElseThrow(() -> new SystemCallException(LIBRARY + "'s " + symbol, Errno.ENOSYS));
      MemoryLayout[] layouts = new MemoryLayout[arguments];
      Arrays.fill(layouts, JAVA_LONG);
      linked =
          Linker.nativeLinker()
              .downcallHandle(
                  function,
                  FunctionDescriptor.of(JAVA_LONG, layouts),
                  Linker.Option.captureCallState("errno"))
              .asSpreader(long[].class, arguments);
      handle = linked;
    }
    return linked;
  }

  /** Calls a function that returns a pointer; returns the negated errno for NULL. */
  long pointer(long... values) {
    MemorySegment capture = LinuxCalls.errnoCapture();
    long result = invoke(capture, values);
    return result == 0 ? -errno(capture) : result;
  }

  /** Calls a function that returns an int; returns 0, or the negated errno. */
  int status(long... values) {
    MemorySegment capture = LinuxCalls.errnoCapture();
    /* C functions that return int leave the upper half of the register undefined. */
    return (int) invoke(capture, values) == 0 ? 0 : -errno(capture);
  }

  /** Calls a function, and throws on failure; the message contains {@code object}. */
  void call(String object, long... values) {
    int result = status(values);
    if (result < 0) {
      throw new SystemCallException(symbol + " of " + object, -result);
    }
  }

  private long invoke(MemorySegment capture, long[] values) {
    try {
      return (long) handle().invokeExact(capture, values);
    } catch (Throwable thrown) {
      throw thrown instanceof RuntimeException unchecked
          ? unchecked
          : new IllegalStateException(symbol, thrown);
    }
  }

  private static int errno(MemorySegment capture) {
    int errno = (int) ERRNO.get(capture, 0L);
    return errno == 0 ? Errno.EIO : errno;
  }
}
