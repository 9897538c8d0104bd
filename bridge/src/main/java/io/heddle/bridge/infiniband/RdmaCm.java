package io.heddle.bridge.infiniband;

import io.heddle.platform.NativeFunction;
import io.heddle.platform.NativeLibrary;
import io.heddle.platform.SystemCallException;

/** Functions of librdmacm that the bridge needs. A function that fails sets errno. */
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

  private final NativeFunction function;

  RdmaCm(String symbol, int arguments) {
    function = Library.OWN.function(symbol, arguments);
  }

  /* The constants' constructors can't use static fields of the enum itself. */
  private static final class Library {
    static final NativeLibrary OWN = new NativeLibrary(LIBRARY);
  }

  /** Returns whether the library can be opened on this machine. */
  static boolean libraryIsPresent() {
    return Library.OWN.isPresent();
  }

  /** Returns whether this machine's library has the function. */
  boolean isPresent() {
    return function.isPresent();
  }

  /** Calls a function that returns a pointer; returns the negated errno for NULL. */
  long pointer(long... values) {
    long result = function.call(values);
    return result == 0 ? -NativeFunction.errno() : result;
  }

  /** Calls a function that returns an int; returns 0, or the negated errno. */
  int status(long... values) {
    return function.callInt(values) == 0 ? 0 : -NativeFunction.errno();
  }

  /** Calls a function, and throws on failure; the message contains {@code object}. */
  void call(String object, long... values) {
    int result = status(values);
    if (result < 0) {
      throw new SystemCallException(function.symbol() + " of " + object, -result);
    }
  }
}
