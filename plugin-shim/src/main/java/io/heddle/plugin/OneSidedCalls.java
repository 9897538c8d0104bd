package io.heddle.plugin;

import static io.heddle.plugin.NcclResult.INVALID_ARGUMENT;
import static io.heddle.plugin.NcclResult.SUCCESS;

import io.heddle.platform.Memory;
import io.heddle.transport.Transport;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.onesided.OneSidedGroup;
import io.heddle.transport.onesided.OneSidedListener;
import io.heddle.transport.onesided.OneSidedOperation;
import java.util.ArrayList;
import java.util.List;

/**
 * Calls of NCCL's one-sided interface. {@link JavaCalls} forwards them and catches their
 * exceptions.
 */
final class OneSidedCalls {
  /*
   * Bit that distinguishes a group's id from a communicator's id; heddle_comm.java_id holds either.
   */
  private static final long GROUP = 1L << 62;

  /* offset of struct heddle_comm.java_id */
  private static final long COMM_JAVA_ID = 0;

  private static final IdTable<OneSidedListener> LISTENERS = new IdTable<>();
  private static final IdTable<OneSidedGroup> GROUPS = new IdTable<>();

  /* Object for the operation of a thread's current call, reused by the thread's next call. */
  private static final ThreadLocal<OneSidedOperation> CURRENT =
      ThreadLocal.withInitial(OneSidedOperation::new);

  private OneSidedCalls() {}

  /**
   * Executes a call of the one-sided interface; the arguments are those of {@link
   * JavaCalls#manage}.
   */
  static int manage(Transport transport, long what, long a, long b, long c, long d, long e) {
    return switch ((int) what) {
      case ManagedCall.GROUP_LISTEN -> listen(transport, a, b, c);
      case ManagedCall.GROUP_CONNECT -> connect(a, b, c, d, e);
      case ManagedCall.GROUP_CLOSE_LISTEN -> closeListen(a);
      default -> ofGroup(what, a, b, c, d, e);
    };
  }

  private static int ofGroup(long what, long a, long b, long c, long d, long e) {
    OneSidedGroup group = GROUPS.get(a & ~GROUP);
    if (!isGroup(a) || group == null) {
      return JavaCalls.unknown("a one-sided call", "group", a);
    }
    return switch ((int) what) {
      case ManagedCall.GROUP_CONTEXTS -> {
        writeLong(d, group.createContexts((int) b, (int) c));
        yield SUCCESS;
      }
      case ManagedCall.GROUP_REGISTER -> JavaCalls.answer(group.register(b, c, (int) d), e);
      case ManagedCall.GROUP_DEREGISTER -> group.deregister(b);
      case ManagedCall.GROUP_START ->
          JavaCalls.answer(
              group.start(
                  OperationLayout.target(b),
                  OperationLayout.local(b),
                  OperationLayout.localOffset(b),
                  OperationLayout.read(b, CURRENT.get())),
              c);
      case ManagedCall.GROUP_FAILED -> {
        writeLong(b, group.hasFailed() ? 1 : 0);
        yield SUCCESS;
      }
      case ManagedCall.GROUP_REGISTER_DMA_BUF ->
          JavaCalls.answer(
              group.registerDmaBuf(
                  DmaBufLayout.address(b),
                  DmaBufLayout.lengthBytes(b),
                  DmaBufLayout.type(b),
                  DmaBufLayout.offset(b),
                  DmaBufLayout.descriptor(b)),
              c);
      case ManagedCall.GROUP_FLUSH -> JavaCalls.answer(group.flush((int) b, c), d);
      case ManagedCall.GROUP_CLOSE -> {
        GROUPS.remove(a & ~GROUP);
        group.close();
        yield SUCCESS;
      }
      default -> throw new IllegalArgumentException("the table has no call " + what);
    };
  }

  private static int listen(Transport transport, long device, long handle, long outListener) {
    writeLong(outListener, LISTENERS.add(transport.listenOneSided((int) device, handle)));
    return SUCCESS;
  }

  private static int connect(long listener, long handles, long ranks, long rank, long outComm) {
    OneSidedListener found = LISTENERS.get(listener);
    if (found == null) {
      return JavaCalls.unknown("connect", "one-sided listener", listener);
    }
    if (ranks < 1 || ranks > Integer.MAX_VALUE) {
      return INVALID_ARGUMENT;
    }
    byte[][] copies = new byte[(int) ranks][];
    for (int i = 0; i < copies.length; i++) {
      long handle = Memory.getLong(handles + (long) i * Long.BYTES);
      copies[i] = Memory.toArray(handle, OneSidedGroup.handleBytes());
    }
    OneSidedGroup group = found.connect(copies, (int) rank);
    writeLong(group.address() + COMM_JAVA_ID, GROUP | GROUPS.add(group));
    writeLong(outComm, group.address());
    return SUCCESS;
  }

  private static int closeListen(long listener) {
    OneSidedListener found = LISTENERS.remove(listener);
    if (found == null) {
      return JavaCalls.unknown("closeListen", "one-sided listener", listener);
    }
    found.close();
    return SUCCESS;
  }

  static boolean isGroup(long id) {
    return (id & GROUP) != 0;
  }

  static int progress(long id) {
    OneSidedGroup group = GROUPS.get(id & ~GROUP);
    return group == null ? JavaCalls.unknown("test", "one-sided group", id) : group.progress();
  }

  /** Returns the number of open groups and listeners. */
  static int openCount() {
    return GROUPS.size() + LISTENERS.size();
  }

  /** Returns the ends of all groups' connections. */
  static List<Communicator> communicators() {
    List<Communicator> all = new ArrayList<>();
    GROUPS.all().forEach(group -> all.addAll(group.communicators()));
    return all;
  }

  private static void writeLong(long address, long value) {
    Memory.setLong(address, value);
  }
}
