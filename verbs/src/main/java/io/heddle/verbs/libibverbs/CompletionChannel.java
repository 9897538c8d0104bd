package io.heddle.verbs.libibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.heddle.jextract.ibv_comp_channel;
import io.heddle.jextract.ibv_context;
import io.heddle.jextract.ibv_context_ops;
import io.heddle.platform.DatagramCalls;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.OwnDescriptors;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Completion channel of one completion queue (ibv_comp_channel): a descriptor to sleep on. It is
 * created and closed on the control path; only the polling thread uses it otherwise.
 */
final class CompletionChannel implements AutoCloseable {
  private static final Linker LINKER = Linker.nativeLinker();
  private static final MethodHandle NOTIFY =
      LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
  private static final MethodHandle TAKE =
      LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle ACKNOWLEDGE =
      LINKER.downcallHandle(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
  private static final int POLLFD_BYTES = 8;
  private static final short POLLIN = 1;

  private final OpenPort port;
  private final long address;
  private final int descriptor;
  private final MemorySegment notify;
  private final MemorySegment take = Verb.GET_CQ_EVENT.function();
  private final MemorySegment acknowledge = Verb.ACK_CQ_EVENTS.function();
  private final Arena arena = Arena.ofShared();
  /* A pollfd, a timespec of 0, then the two results of ibv_get_cq_event. */
  private final long room = Memory.allocate(arena, POLLFD_BYTES + 16 + 16, Long.BYTES);
  private boolean armed;

  CompletionChannel(OpenPort port) {
    this.port = port;
    address = Verb.CREATE_COMP_CHANNEL.call("completion channel of " + port, port.address());
    descriptor = OwnDescriptors.opened(Memory.getInt(address + ibv_comp_channel.fd$offset()));
    long ops = port.address() + ibv_context.ops$offset();
    notify = MemorySegment.ofAddress(Memory.getLong(ops + ibv_context_ops.req_notify_cq$offset()));
    Memory.setInt(room, descriptor);
    Memory.ALL.set(Memory.NATIVE_SHORT, room + Integer.BYTES, POLLIN);
  }

  /** Returns the address of the ibv_comp_channel. */
  long address() {
    return address;
  }

  int descriptor() {
    return descriptor;
  }

  /**
   * Arms the queue: its next completion makes the descriptor readable. Returns 0 or an errno value.
   */
  int arm(long completionQueue) {
    takeEvent(completionQueue);
    if (armed) {
      return 0;
    }
    try {
      int errno = (int) NOTIFY.invokeExact(notify, completionQueue, 0);
      armed = errno == 0;
      return errno;
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  /*
   * The library's call blocks until there is an event, so this method calls it only while one is
   * queued.
   */
  private void takeEvent(long completionQueue) {
    long timespec = room + POLLFD_BYTES;
    if (DatagramCalls.poll(LinuxCalls.errnoCapture(), room, 1, timespec) <= 0) {
      return;
    }
    try {
      if ((int) TAKE.invokeExact(take, address, timespec + 16, timespec + 24) == 0) {
        ACKNOWLEDGE.invokeExact(acknowledge, completionQueue, 1);
        armed = false;
      }
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  private static RuntimeException unexpected(Throwable thrown) {
    return thrown instanceof RuntimeException runtime ? runtime : new IllegalStateException(thrown);
  }

  /** Closes the channel, whose queue must be destroyed already. */
  @Override
  public void close() {
    OwnDescriptors.closing(descriptor);
    Verb.DESTROY_COMP_CHANNEL.call("completion channel of " + port, address);
    arena.close();
  }
}
