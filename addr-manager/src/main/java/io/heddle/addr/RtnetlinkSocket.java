package io.heddle.addr;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** NETLINK_ROUTE socket. Used by one thread at a time. */
final class RtnetlinkSocket implements AutoCloseable {
  private static final int SOCK_RAW_CLOEXEC = 3 | 0x80000;
  private static final int MSG_DONTWAIT = 0x40;
  private static final int SOL_SOCKET = 1;
  private static final int SO_RCVTIMEO = 20;
  private static final int SOCKADDR_NL_BYTES = 12;

  /** Size of the receive buffer: one part of a dump has up to 32 KiB (netlink(7)). */
  private static final int BUFFER_BYTES = 64 * 1024;

  /**
   * Longest wait for an answer. The kernel answers at once; the limit only keeps a broken kernel
   * from hanging this process.
   */
  private static final long DUMP_TIMEOUT_SECONDS = 5;

  private static final int DUMP_ATTEMPTS = 5;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment buffer = arena.allocate(BUFFER_BYTES, 8);
  private final int fd;
  private int sequence;
  private long skippedMessages;
  private boolean closed;

  private RtnetlinkSocket(int fd) {
    this.fd = fd;
  }

  /**
   * Opens a socket.
   *
   * @param groups RTMGRP_* bits of the events to receive, 0 for none
   * @throws SystemCallException if netlink can't be used
   */
  static RtnetlinkSocket open(int groups) {
    int fd = LinuxCalls.socket(Rtnetlink.AF_NETLINK, SOCK_RAW_CLOEXEC, Rtnetlink.NETLINK_ROUTE);
    if (fd < 0) {
      throw new SystemCallException("socket(AF_NETLINK, NETLINK_ROUTE)", -fd);
    }
    RtnetlinkSocket socket = new RtnetlinkSocket(fd);
    try (Arena confined = Arena.ofConfined()) {
      MemorySegment address = confined.allocate(SOCKADDR_NL_BYTES, 4);
      address.set(ValueLayout.JAVA_SHORT, 0, (short) Rtnetlink.AF_NETLINK);
      address.set(ValueLayout.JAVA_INT, 8, groups);
      socket.check("bind(AF_NETLINK)", LinuxCalls.bind(fd, address.address(), SOCKADDR_NL_BYTES));
      MemorySegment timeout = confined.allocate(ValueLayout.JAVA_LONG, 2);
      timeout.setAtIndex(ValueLayout.JAVA_LONG, 0, DUMP_TIMEOUT_SECONDS);
      socket.check(
          "setsockopt(SO_RCVTIMEO)",
          LinuxCalls.setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, timeout.address(), 2 * Long.BYTES));
      return socket;
    } catch (RuntimeException failed) {
      socket.close();
      throw failed;
    }
  }

  private void check(String call, long result) {
    if (result < 0) {
      throw new SystemCallException(call, (int) -result);
    }
  }

  int fileDescriptor() {
    return fd;
  }

  long skippedMessages() {
    return skippedMessages;
  }

  /**
   * Returns all objects of one kind.
   *
   * @param type RTM_GETLINK or RTM_GETADDR
   * @throws SystemCallException if the kernel refuses or doesn't answer
   */
  List<AddressEvent> dump(int type) {
    return list(type, Rtnetlink.dumpBody(type), Rtnetlink::decode);
  }

  /**
   * Returns copies of the bodies of all messages that answer a list request, each of which begins
   * with the struct of its type.
   *
   * @throws SystemCallException if the kernel refuses or doesn't answer
   */
  List<ByteBuffer> list(int type, byte[] body) {
    return list(type, body, RtnetlinkSocket::copyOfBody);
  }

  /**
   * Sends a request and waits for the kernel's acknowledgement.
   *
   * @param body the message after its header: the struct of this type of message, and attributes
   * @return 0, or the negated errno
   */
  int execute(int type, int flags, byte[] body) {
    send(type, Rtnetlink.NLM_F_ACK | flags, body);
    AtomicInteger result = new AtomicInteger();
    receiveAnswers(message -> {
      boolean last = kind(message) == Rtnetlink.NLMSG_ERROR;
      if (last) {
        result.set(message.getInt(Rtnetlink.HEADER_BYTES));
      }
      return last;
    });
    return result.get();
  }

  /**
   * Requests one object.
   *
   * @param body the struct of this type of message, and attributes
   * @return a copy of the answer's body; null if the kernel has no such object, or refuses
   */
  @Nullable ByteBuffer get(int type, byte[] body) {
    send(type, 0, body);
    AtomicReference<@Nullable ByteBuffer> answer = new AtomicReference<>();
    receiveAnswers(message -> {
      if (kind(message) != Rtnetlink.NLMSG_ERROR) {
        answer.set(copyOfBody(message));
      }
      return true;
    });
    return answer.get();
  }

  /*
   * Requests a list. Retries if the kernel reports that its objects changed meanwhile
   * (NLM_F_DUMP_INTR), since the list may then be incomplete.
   */
  private <T> List<T> list(int type, byte[] body, Function<ByteBuffer, @Nullable T> reader) {
    for (int attempt = 0; attempt < DUMP_ATTEMPTS; attempt++) {
      List<T> found = new ArrayList<>();
      if (listOnce(type, body, reader, found)) {
        return found;
      }
    }
    throw new HeddleException(
        "the kernel's list (rtnetlink type "
            + type
            + ") changed while it was read, "
            + DUMP_ATTEMPTS
            + " times in a row");
  }

  private <T> boolean listOnce(
      int type, byte[] body, Function<ByteBuffer, @Nullable T> reader, List<T> found) {
    send(type, Rtnetlink.NLM_F_DUMP, body);
    AtomicBoolean consistent = new AtomicBoolean(true);
    receiveAnswers(message -> {
      if ((message.getShort(6) & Rtnetlink.NLM_F_DUMP_INTR) != 0) {
        consistent.set(false);
      }
      int kind = kind(message);
      if (kind == Rtnetlink.NLMSG_ERROR) {
        throw new SystemCallException("rtnetlink list of type " + type, errorOf(message));
      }
      boolean last = kind == Rtnetlink.NLMSG_DONE;
      T read = last ? null : reader.apply(message);
      if (read != null) {
        found.add(read);
      }
      return last;
    });
    return consistent.get();
  }

  private void send(int type, int flags, byte[] body) {
    byte[] request = Rtnetlink.request(type, flags, ++sequence, body);
    MemorySegment.copy(request, 0, buffer, ValueLayout.JAVA_BYTE, 0, request.length);
    check(
        "send on rtnetlink",
        LinuxCalls.send(LinuxCalls.errnoCapture(), fd, buffer.address(), request.length, 0));
  }

  /*
   * Passes each answer to the taker, until the taker returns true for the last answer to the
   * request.
   */
  private void receiveAnswers(Predicate<ByteBuffer> taker) {
    while (true) {
      int received = receive(0);
      if (received == -Errno.EINTR) {
        continue;
      }
      check("recv on rtnetlink", received);
      ByteBuffer run = buffer.asSlice(0, received).asByteBuffer().order(ByteOrder.nativeOrder());
      int length;
      while ((length = Rtnetlink.messageLength(run)) > 0) {
        ByteBuffer message = message(run, length);
        if (message.getInt(8) == sequence && taker.test(message)) {
          return;
        }
        run.position(Math.min(run.limit(), run.position() + Rtnetlink.aligned(length)));
      }
    }
  }

  private static int kind(ByteBuffer message) {
    return message.getShort(4) & 0xffff;
  }

  private static ByteBuffer copyOfBody(ByteBuffer message) {
    byte[] copy = new byte[message.remaining() - Rtnetlink.HEADER_BYTES];
    message.get(Rtnetlink.HEADER_BYTES, copy);
    return ByteBuffer.wrap(copy).order(ByteOrder.nativeOrder());
  }

  /**
   * Receives one datagram, and passes its events to the listener. Returns the number of events, or
   * a negated errno (EAGAIN if no datagram is pending).
   */
  int receiveEvents(AddressListener listener) {
    int received = receive(MSG_DONTWAIT);
    if (received < 0) {
      return received;
    }
    ByteBuffer run = buffer.asSlice(0, received).asByteBuffer().order(ByteOrder.nativeOrder());
    int count = 0;
    int length;
    while ((length = Rtnetlink.messageLength(run)) > 0) {
      AddressEvent event = Rtnetlink.decode(message(run, length));
      if (event == null) {
        skippedMessages++;
      } else {
        listener.onAddressEvent(event);
        count++;
      }
      run.position(Math.min(run.limit(), run.position() + Rtnetlink.aligned(length)));
    }
    return count;
  }

  private int receive(int flags) {
    return (int)
        LinuxCalls.recv(LinuxCalls.errnoCapture(), fd, buffer.address(), BUFFER_BYTES, flags);
  }

  private static ByteBuffer message(ByteBuffer run, int length) {
    return run.slice(run.position(), length).order(ByteOrder.nativeOrder());
  }

  private static int errorOf(ByteBuffer message) {
    int errno =
        message.remaining() >= Rtnetlink.HEADER_BYTES + 4
            ? -message.getInt(Rtnetlink.HEADER_BYTES)
            : 0;
    return errno > 0 ? errno : Errno.EIO;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      LinuxCalls.close(fd);
      arena.close();
    }
  }
}
