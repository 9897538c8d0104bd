package io.heddle.verbs.libibverbs;

import io.heddle.jextract.VerbsConstants;
import io.heddle.jextract.ibv_async_event;
import io.heddle.jextract.ibv_context;
import io.heddle.jextract.ibv_qp;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.verbs.AsyncEventListener.Kind;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reader of the asynchronous events of a device's port: those of the port and of the whole device.
 * It acknowledges each event at once, since the library's destroy calls wait for that. Events of
 * the device's other ports, and those that the transport doesn't use (path migration, shared
 * receive queues), are read and dropped.
 */
final class AsyncEventReader {
  private static final Map<Integer, Kind> KINDS = kinds();

  private final long context;
  private final int port;
  private final int descriptor;

  record Event(Kind kind, int queuePairNumber) {}

  AsyncEventReader(long context, int port) {
    this.context = context;
    this.port = port;
    descriptor = Memory.ALL.get(Memory.NATIVE_INT, context + ibv_context.async_fd$offset());
  }

  private static Map<Integer, Kind> kinds() {
    Map<Integer, Kind> kinds = new HashMap<>();
    kinds.put(VerbsConstants.IBV_EVENT_DEVICE_FATAL(), Kind.DEVICE_FATAL);
    kinds.put(VerbsConstants.IBV_EVENT_PORT_ACTIVE(), Kind.PORT_ACTIVE);
    kinds.put(VerbsConstants.IBV_EVENT_PORT_ERR(), Kind.PORT_ERROR);
    kinds.put(VerbsConstants.IBV_EVENT_GID_CHANGE(), Kind.GID_CHANGE);
    kinds.put(VerbsConstants.IBV_EVENT_LID_CHANGE(), Kind.SUBNET_CHANGE);
    kinds.put(VerbsConstants.IBV_EVENT_PKEY_CHANGE(), Kind.SUBNET_CHANGE);
    kinds.put(VerbsConstants.IBV_EVENT_SM_CHANGE(), Kind.SUBNET_CHANGE);
    kinds.put(VerbsConstants.IBV_EVENT_CLIENT_REREGISTER(), Kind.SUBNET_CHANGE);
    kinds.put(VerbsConstants.IBV_EVENT_CQ_ERR(), Kind.COMPLETION_QUEUE_ERROR);
    kinds.put(VerbsConstants.IBV_EVENT_QP_FATAL(), Kind.QUEUE_PAIR_FATAL);
    kinds.put(VerbsConstants.IBV_EVENT_QP_REQ_ERR(), Kind.QUEUE_PAIR_REQUEST_ERROR);
    kinds.put(VerbsConstants.IBV_EVENT_QP_ACCESS_ERR(), Kind.QUEUE_PAIR_ACCESS_ERROR);
    return kinds;
  }

  /*
   * Takes the queued events. The library's call blocks until there is an
   * event, so this method calls it only while one is queued.
   */
  synchronized List<Event> take() {
    if (!LinuxCalls.isReadable(descriptor)) {
      return List.of();
    }
    List<Event> taken = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      long event = Memory.allocate(arena, ibv_async_event.sizeof(), Long.BYTES);
      do {
        if (Verb.GET_ASYNC_EVENT.attempt(context, event) < 0) {
          break;
        }
        Kind kind =
            KINDS.get(
                Memory.ALL.get(Memory.NATIVE_INT, event + ibv_async_event.event_type$offset()));
        if (kind != null && (!isOfPort(kind) || portNumber(event) == port)) {
          taken.add(new Event(kind, isOfQueuePair(kind) ? queuePairNumber(event) : 0));
        }
        Verb.ACK_ASYNC_EVENT.attempt(event);
      } while (LinuxCalls.isReadable(descriptor));
    }
    return taken;
  }

  private static boolean isOfPort(Kind kind) {
    return switch (kind) {
      case PORT_ACTIVE, PORT_ERROR, GID_CHANGE, SUBNET_CHANGE -> true;
      case DEVICE_FATAL,
          COMPLETION_QUEUE_ERROR,
          QUEUE_PAIR_FATAL,
          QUEUE_PAIR_REQUEST_ERROR,
          QUEUE_PAIR_ACCESS_ERROR ->
          false;
    };
  }

  private static int portNumber(long event) {
    return Memory.ALL.get(Memory.NATIVE_INT, event + ibv_async_event.element$offset());
  }

  private static boolean isOfQueuePair(Kind kind) {
    return switch (kind) {
      case QUEUE_PAIR_FATAL, QUEUE_PAIR_REQUEST_ERROR, QUEUE_PAIR_ACCESS_ERROR -> true;
      case DEVICE_FATAL,
          PORT_ACTIVE,
          PORT_ERROR,
          GID_CHANGE,
          SUBNET_CHANGE,
          COMPLETION_QUEUE_ERROR ->
          false;
    };
  }

  /* Reads the number from the ibv_qp, which can't be destroyed before its event is acknowledged. */
  private static int queuePairNumber(long event) {
    long qp = Memory.ALL.get(Memory.NATIVE_LONG, event + ibv_async_event.element$offset());
    return Memory.ALL.get(Memory.NATIVE_INT, qp + ibv_qp.qp_num$offset());
  }
}
