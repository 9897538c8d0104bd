package io.heddle.platform.testing;

import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** Notification socket like systemd's, to which a daemon reports its state. */
public final class NotifySocket implements AutoCloseable {
  private static final int AF_UNIX = 1;
  private static final int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;
  private static final int ROOM_BYTES = 4096;
  private static final long LIMIT_SECONDS = 60;
  private static final long LOOK_NS = 1_000_000;

  private final Arena arena = Arena.ofShared();
  private final long room = Memory.allocate(arena, ROOM_BYTES, 8);
  private final String name;
  private final int fd;

  private NotifySocket(String name) {
    this.name = name;
    fd = SystemCallException.check("socket", LinuxCalls.socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0));
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    Memory.ALL.set(Memory.NATIVE_SHORT, room, (short) AF_UNIX);
    for (int i = 0; i < bytes.length; i++) {
      byte value = i == 0 && bytes[0] == '@' ? 0 : bytes[i];
      Memory.ALL.set(ValueLayout.JAVA_BYTE, room + 2 + i, value);
    }
    SystemCallException.check("bind " + name, LinuxCalls.bind(fd, room, 2 + bytes.length));
  }

  /**
   * Opens the socket.
   *
   * @param name path, or abstract name with leading {@code @}
   */
  public static NotifySocket at(String name) {
    return new NotifySocket(name);
  }

  /**
   * Waits for the next datagram.
   *
   * @throws AssertionError if none arrives
   */
  public String awaitMessage() {
    return awaitMessage(Deadline.ofSeconds(LIMIT_SECONDS), "anything");
  }

  private String awaitMessage(Deadline deadline, String wanted) {
    while (!hasMore()) {
      failWhenOver(deadline, wanted);
      LockSupport.parkNanos(LOOK_NS);
    }
    long length = LinuxCalls.recv(LinuxCalls.errnoCapture(), fd, room, ROOM_BYTES, 0);
    SystemCallException.check("recv", (int) length);
    return new String(Memory.toArray(room, (int) length), StandardCharsets.UTF_8);
  }

  private void failWhenOver(Deadline deadline, String wanted) {
    if (deadline.isOver()) {
      throw new AssertionError("no notification " + wanted + " at " + name + " within " + deadline);
    }
  }

  /** Returns whether an unread datagram has arrived. */
  public boolean hasMore() {
    return LinuxCalls.isReadable(fd);
  }

  /**
   * Waits for a datagram with this prefix.
   *
   * @throws AssertionError if none arrives
   */
  public String awaitMessage(String prefix) {
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    String heard = awaitMessage(deadline, prefix);
    while (!heard.startsWith(prefix)) {
      failWhenOver(deadline, prefix);
      heard = awaitMessage(deadline, prefix);
    }
    return heard;
  }

  @Override
  public void close() {
    LinuxCalls.close(fd);
    arena.close();
    try {
      if (!name.startsWith("@")) {
        Files.delete(Path.of(name));
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
