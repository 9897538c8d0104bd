package io.heddle.plugin;

import static io.heddle.plugin.NcclResult.INTERNAL_ERROR;
import static io.heddle.plugin.NcclResult.INVALID_ARGUMENT;
import static io.heddle.plugin.NcclResult.REMOTE_ERROR;
import static io.heddle.plugin.NcclResult.SUCCESS;
import static io.heddle.plugin.NcclResult.SYSTEM_ERROR;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.NanoClock;
import io.heddle.transport.Transport;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.data.RecvComm;
import io.heddle.transport.data.SendComm;
import io.heddle.transport.data.ShutdownDrain;
import io.heddle.transport.device.PeerFailure;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Entries of {@code struct heddle_calls} (native/src/java_calls.h), called by the shim on NCCL's
 * threads.
 *
 * <p>State is static since the process has one table, and since an upcall stub of a static method
 * needs no bound receiver. Every entry catches all exceptions, since an exception that leaves an
 * upcall ends the training process.
 *
 * <p>NCCL's progress thread calls isend, irecv, iflush and progress. At the same time its service
 * thread may call the other entries, even for the same communicator. Different threads drive
 * communicators of one device.
 */
final class JavaCalls {
  /**
   * Arguments of init for a context. NCCL passes the context's id to listen, connect and finalize.
   */
  private record Context(long commId, int trafficClass) {}

  private static final int UNDEFINED_TRAFFIC_CLASS = -1;

  /* offset of struct heddle_comm.java_id */
  private static final long COMM_JAVA_ID = 0;

  private static final IdTable<Context> CONTEXTS = new IdTable<>();
  private static final IdTable<ListenComm> LISTENS = new IdTable<>();

  /* SendComms and RecvComms in one table, since progress and registration take either. */
  private static final IdTable<Communicator> COMMS = new IdTable<>();

  /* Only PluginEntry.start() writes these fields, before C has the table. */
  private static Log log = Log.toStandardError();
  private static @Nullable NcclDevices devices;

  private JavaCalls() {}

  static void configure(Log ncclLog, @Nullable NcclDevices list) {
    log = ncclLog;
    devices = list;
  }

  /**
   * Executes any call outside the data path.
   *
   * @param what a {@link ManagedCall}; java_calls.h describes its arguments
   */
  static int manage(long what, long a, long b, long c, long d, long e) {
    return switch ((int) what) {
      case ManagedCall.INIT -> init(a, b, c);
      case ManagedCall.FINALIZE -> finish(a);
      case ManagedCall.DEVICES -> devices(a);
      case ManagedCall.GET_PROPERTIES -> getProperties(a, b);
      case ManagedCall.LISTEN -> listen(a, b, c, d);
      case ManagedCall.CONNECT -> connect(a, b, c, d, e);
      case ManagedCall.ACCEPT -> accept(a, b);
      case ManagedCall.REGISTER_MEMORY -> registerMemory(a, b, c, d, e);
      case ManagedCall.DEREGISTER_MEMORY -> deregisterMemory(a, b);
      case ManagedCall.CLOSE_SEND -> closeSend(a);
      case ManagedCall.CLOSE_RECEIVE -> closeReceive(a);
      case ManagedCall.CLOSE_LISTEN -> closeListen(a);
      case ManagedCall.PLANES_OF -> planesOf(a, b, c, d);
      case ManagedCall.FLUSH_BEFORE_EXIT -> flushBeforeExit(a, b);
      default -> oneSided(what, a, b, c, d, e);
    };
  }

  private static int oneSided(long what, long a, long b, long c, long d, long e) {
    try {
      return OneSidedCalls.manage(transport(), what, a, b, c, d, e);
    } catch (Throwable thrown) {
      return failed("one-sided call " + what, thrown);
    }
  }

  private static int init(long commId, long trafficClass, long outContext) {
    try {
      NcclDevices list = list();
      /*
       * If the last finalize runs at the same time, the lock orders it and this init: the transport
       * stays open, or is closed and then opened again.
       */
      synchronized (CONTEXTS) {
        list.open();
        writeLong(outContext, CONTEXTS.add(new Context(commId, (int) trafficClass)));
      }
      return SUCCESS;
    } catch (Throwable thrown) {
      return failed("init", thrown);
    }
  }

  private static int finish(long context) {
    try {
      synchronized (CONTEXTS) {
        if (CONTEXTS.remove(context) == null) {
          return unknown("finalize", "context", context);
        }
        if (CONTEXTS.size() == 0) {
          closeUnlessInUse();
        }
      }
      return SUCCESS;
    } catch (Throwable thrown) {
      return failed("finalize", thrown);
    }
  }

  private static void closeUnlessInUse() {
    int oneSided = OneSidedCalls.openCount();
    if (COMMS.size() + LISTENS.size() + oneSided == 0) {
      list().close();
    } else {
      log.info(
          "the last context is finalized while %d communicators, %d listeners, and %d one-sided"
              + " groups and their listeners are open; the devices stay open",
          COMMS.size(), LISTENS.size(), oneSided);
    }
  }

  private static int devices(long outCount) {
    try {
      writeLong(outCount, transport().deviceCount());
      return SUCCESS;
    } catch (Throwable thrown) {
      return failed("devices", thrown);
    }
  }

  private static int getProperties(long device, long outProperties) {
    try {
      list().writeProperties((int) device, outProperties);
      return SUCCESS;
    } catch (Throwable thrown) {
      return failed("getProperties", thrown);
    }
  }

  /* Ignores the context, whose only setting, the traffic class, concerns the sender. */
  private static int listen(long context, long device, long handle, long outListenComm) {
    try {
      writeLong(outListenComm, LISTENS.add(transport().listen((int) device, handle)));
      return SUCCESS;
    } catch (Throwable thrown) {
      return failed("listen", thrown);
    }
  }

  private static int connect(
      long context, long device, long trafficClass, long handle, long outComm) {
    try {
      SendComm comm =
          transport().connect((int) device, trafficClass(context, (int) trafficClass), handle);
      writeLong(outComm, comm == null ? 0 : publish(comm, comm.address()));
      return SUCCESS;
    } catch (Throwable thrown) {
      return failed("connect", thrown);
    }
  }

  /*
   * Returns the traffic class of a connection: that of the context if it has one, otherwise the one
   * that was passed to connect, as in v10.
   */
  private static int trafficClass(long context, int given) {
    Context found = CONTEXTS.get(context);
    return found == null || found.trafficClass == UNDEFINED_TRAFFIC_CLASS
        ? given
        : found.trafficClass;
  }

  private static int accept(long listenComm, long outComm) {
    try {
      ListenComm listen = LISTENS.get(listenComm);
      if (listen == null) {
        return unknown("accept", "listener", listenComm);
      }
      RecvComm comm = transport().accept(listen);
      writeLong(outComm, comm == null ? 0 : publish(comm, comm.address()));
      return SUCCESS;
    } catch (Throwable thrown) {
      return failed("accept", thrown);
    }
  }

  private static long publish(Communicator comm, long address) {
    writeLong(address + COMM_JAVA_ID, COMMS.add(comm));
    return address;
  }

  private static int registerMemory(long comm, long data, long size, long type, long outHandle) {
    try {
      Communicator found = COMMS.get(comm);
      long handle =
          switch (found) {
            case SendComm send -> send.registerMemory(data, size, (int) type);
            case RecvComm receive -> receive.registerMemory(data, size, (int) type);
            case null, default -> -unknown("regMr", "communicator", comm);
          };
      return answer(handle, outHandle);
    } catch (Throwable thrown) {
      return failed("regMr", thrown);
    }
  }

  static int registerDmaBuf(
      long comm, long data, long size, long type, long offset, long fd, long outHandle) {
    try {
      Communicator found = COMMS.get(comm);
      long handle =
          switch (found) {
            case SendComm send -> send.registerDmaBuf(data, size, (int) type, offset, (int) fd);
            case RecvComm receive ->
                receive.registerDmaBuf(data, size, (int) type, offset, (int) fd);
            case null, default -> -unknown("regMrDmaBuf", "communicator", comm);
          };
      return answer(handle, outHandle);
    } catch (Throwable thrown) {
      return failed("regMrDmaBuf", thrown);
    }
  }

  private static int deregisterMemory(long comm, long handle) {
    try {
      return switch (COMMS.get(comm)) {
        case SendComm send -> send.deregisterMemory(handle);
        case RecvComm receive -> receive.deregisterMemory(handle);
        case null, default -> unknown("deregMr", "communicator", comm);
      };
    } catch (Throwable thrown) {
      return failed("deregMr", thrown);
    }
  }

  static int isend(long comm, long data, long size, long tag, long memoryHandle, long outRequest) {
    try {
      if (COMMS.get(comm) instanceof SendComm send) {
        return answer(send.isend(data, size, (int) tag, memoryHandle), outRequest);
      }
      return unknown("isend", "sending communicator", comm);
    } catch (Throwable thrown) {
      return failed("isend", thrown);
    }
  }

  static int irecv(
      long comm, long n, long data, long sizes, long tags, long memoryHandles, long outRequest) {
    try {
      if (COMMS.get(comm) instanceof RecvComm receive) {
        return answer(receive.irecv((int) n, data, sizes, tags, memoryHandles), outRequest);
      }
      return unknown("irecv", "receiving communicator", comm);
    } catch (Throwable thrown) {
      return failed("irecv", thrown);
    }
  }

  static int iflush(long comm, long n, long data, long sizes, long memoryHandles, long outRequest) {
    try {
      if (COMMS.get(comm) instanceof RecvComm receive) {
        return answer(receive.iflush((int) n, data, sizes, memoryHandles), outRequest);
      }
      return unknown("iflush", "receiving communicator", comm);
    } catch (Throwable thrown) {
      return failed("iflush", thrown);
    }
  }

  static int progress(long comm) {
    try {
      Communicator found = COMMS.get(comm);
      if (found instanceof SendComm send) {
        return send.progress();
      }
      if (found instanceof RecvComm receive) {
        return receive.progress();
      }
      if (OneSidedCalls.isGroup(comm)) {
        return OneSidedCalls.progress(comm);
      }
      return unknown("test", "communicator", comm);
    } catch (Throwable thrown) {
      return failed("test", thrown);
    }
  }

  private static int closeSend(long comm) {
    try {
      if (COMMS.get(comm) instanceof SendComm send) {
        COMMS.remove(comm);
        send.close();
        return SUCCESS;
      }
      return unknown("closeSend", "sending communicator", comm);
    } catch (Throwable thrown) {
      return failed("closeSend", thrown);
    }
  }

  private static int closeReceive(long comm) {
    try {
      if (COMMS.get(comm) instanceof RecvComm receive) {
        COMMS.remove(comm);
        receive.close();
        return SUCCESS;
      }
      return unknown("closeRecv", "receiving communicator", comm);
    } catch (Throwable thrown) {
      return failed("closeRecv", thrown);
    }
  }

  private static int closeListen(long listenComm) {
    try {
      ListenComm listen = LISTENS.remove(listenComm);
      if (listen == null) {
        return unknown("closeListen", "listener", listenComm);
      }
      listen.close();
      return SUCCESS;
    } catch (Throwable thrown) {
      return failed("closeListen", thrown);
    }
  }

  private static int planesOf(long comm, long request, long outPlanes, long outCount) {
    try {
      if (COMMS.get(comm) instanceof SendComm send) {
        writeLong(outCount, send.planesOf(request, outPlanes));
        return SUCCESS;
      }
      return unknown("planesOf", "sending communicator", comm);
    } catch (Throwable thrown) {
      return failed("planesOf", thrown);
    }
  }

  /** Waits for pending sends before the process ends, as {@link ShutdownDrain} describes. */
  static int flushBeforeExit(long budgetNs, long quietNs) {
    try {
      NcclDevices list = devices;
      if (list != null && list.isOpen()) {
        new ShutdownDrain(JavaCalls::communicators, NanoClock.SYSTEM, log).await(budgetNs, quietNs);
      }
      return SUCCESS;
    } catch (Throwable thrown) {
      return failed("waiting for pending sends at the process's end", thrown);
    }
  }

  private static List<Communicator> communicators() {
    List<Communicator> all = COMMS.all();
    all.addAll(OneSidedCalls.communicators());
    return all;
  }

  private static NcclDevices list() {
    NcclDevices list = devices;
    if (list == null) {
      throw new IllegalStateException("the table was used before start()");
    }
    return list;
  }

  private static Transport transport() {
    return list().transport();
  }

  /**
   * Stores a result (an address, an id, or 0 for "call again") and returns SUCCESS. A negative
   * result is a negated result code: it isn't stored, and the code is returned.
   */
  static int answer(long result, long out) {
    if (result < 0) {
      return (int) -result;
    }
    writeLong(out, result);
    return SUCCESS;
  }

  private static void writeLong(long address, long value) {
    Memory.ALL.set(Memory.NATIVE_LONG, address, value);
  }

  static int unknown(String call, String what, long id) {
    log.warn("%s: there is no %s %#x; it was closed, or this plugin never made it", call, what, id);
    return INVALID_ARGUMENT;
  }

  /** Logs a failure and returns its result code. No exception may leave this method either. */
  private static int failed(String call, Throwable thrown) {
    try {
      if (thrown instanceof HeddleException) {
        log.warn("%s failed: %s", call, String.valueOf(thrown.getMessage()));
        return thrown instanceof PeerFailure ? REMOTE_ERROR : SYSTEM_ERROR;
      }
      log.warn("%s failed inside Heddle: %s%s", call, thrown, Traces.shorten(thrown));
      return INTERNAL_ERROR;
    } catch (Throwable second) {
      return INTERNAL_ERROR;
    }
  }
}
