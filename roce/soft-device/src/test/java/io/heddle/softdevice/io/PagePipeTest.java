package io.heddle.softdevice.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the results of a pipe for unsent pages, and that the pipe is empty afterwards. */
class PagePipeTest {
  private static final int AF_UNIX = 1;
  private static final int DATAGRAM_NONBLOCK = 2 | 0x800;
  private static final int PAGES = 16;
  private static final int BYTES = PAGES * PagePipe.PAGE_BYTES;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment capture = LinuxCalls.errnoCapture();
  private final @Nullable PagePipe pages = PagePipe.open(arena, System.getProperty("os.version"));
  private final long train = Memory.allocate(arena, BYTES, PagePipe.PAGE_BYTES);
  private final long got = Memory.allocate(arena, BYTES, PagePipe.PAGE_BYTES);
  private int from = -1;
  private int to = -1;

  @AfterEach
  void close() {
    if (from >= 0) {
      LinuxCalls.close(from);
      LinuxCalls.close(to);
    }
    arena.close();
  }

  private PagePipe pipe() {
    if (pages == null) {
      String why = "this kernel copies what comes out of a pipe";
      System.out.println("skipped: " + why);
      Assumptions.abort(why);
    }
    return pages;
  }

  /*
   * Connects a pair of local sockets. Data that the receiving one hasn't read fills the sending
   * one, as on a slow link.
   */
  private void connect() {
    to = LinuxCalls.socket(AF_UNIX, DATAGRAM_NONBLOCK, 0);
    from = LinuxCalls.socket(AF_UNIX, DATAGRAM_NONBLOCK, 0);
    long name = Memory.allocate(arena, 128, 8);
    Memory.ALL.set(Memory.NATIVE_SHORT, name, (short) AF_UNIX);
    assertEquals(0, LinuxCalls.bind(to, name, 2), "the kernel gives it a name");
    Memory.ALL.set(Memory.NATIVE_INT, name + 120, 120);
    assertEquals(0, LinuxCalls.getsockname(to, name, name + 120));
    int nameBytes = Memory.ALL.get(Memory.NATIVE_INT, name + 120);
    assertEquals(0, LinuxCalls.connect(from, name, nameBytes));
  }

  /* Receives the next train and returns its mark, the value that all its bytes must have. */
  private int receive() {
    assertEquals(BYTES, LinuxCalls.recv(capture, to, got, BYTES, 0));
    byte mark = Memory.ALL.get(ValueLayout.JAVA_BYTE, got);
    for (int i = 0; i < BYTES; i++) {
      assertEquals(mark, Memory.ALL.get(ValueLayout.JAVA_BYTE, got + i), "byte " + i);
    }
    return mark;
  }

  private int send(PagePipe pipe, int mark) {
    Memory.ALL.asSlice(train, BYTES).fill((byte) mark);
    return pipe.send(from, train, BYTES);
  }

  @Test
  void fullSocketIsReportedAndPipeIsEmptied() {
    PagePipe pipe = pipe();
    connect();
    int sent = 0;
    int result = send(pipe, sent);
    while (result == 0 && sent < 1000) {
      sent++;
      result = send(pipe, sent);
    }
    assertTrue(sent > 0 && sent < 1000, sent + " trains");
    assertEquals(-Errno.EAGAIN, result);
    for (int i = 0; i < sent; i++) {
      assertEquals(i, receive());
    }
    assertEquals(0, send(pipe, 99));
    assertEquals(99, receive(), "and not what the full socket left in the pipe");
  }

  @Test
  void smallPipeIsReportedAndEmptied() {
    PagePipe pipe = pipe();
    connect();
    for (int page = 0; page < PAGES - 2; page++) {
      assertEquals(
          PagePipe.PAGE_BYTES,
          LinuxCalls.write(capture, pipe.writeEnd(), got, PagePipe.PAGE_BYTES));
    }
    assertEquals(-Errno.ENOSPC, send(pipe, 1));
    assertEquals(0, send(pipe, 2));
    assertEquals(2, receive());
  }

  @Test
  void failedCallIsReported() {
    assertEquals(-Errno.EBADF, pipe().send(-1, train, BYTES));
  }

  @ParameterizedTest
  @CsvSource({"5.15.0-91-generic", "6.5.13", "6.1.0-18-amd64", "nonsense"})
  void olderKernelGetsNoPipe(String kernel) {
    assertNull(PagePipe.open(arena, kernel));
  }
}
