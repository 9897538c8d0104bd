package io.heddle.platform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Test of the table of descriptors that a forked child closes. native/test/killed_with_child.c
 * tests that the child does so.
 */
@EndsWithin(30)
class OwnDescriptorsTest {
  private static final int F_GETFD = 1;
  private static final int FD_CLOEXEC = 1;

  private final Arena arena = Arena.ofShared();
  private final long table =
      Memory.allocate(
          arena,
          OwnDescriptors.HEADER_BYTES + (long) OwnDescriptors.MOST * OwnDescriptors.ENTRY_BYTES,
          8);

  @BeforeEach
  void use() {
    OwnDescriptors.setTable(table);
  }

  @AfterEach
  void close() {
    OwnDescriptors.setTable(0);
    arena.close();
  }

  private long inode(int fd) {
    return Memory.getLong(table + OwnDescriptors.HEADER_BYTES + 16L * fd + 8);
  }

  private boolean isEntered(int fd) {
    return Memory.getLong(table) > fd && inode(fd) == FileStatus.of(fd).inode();
  }

  @Test
  void everyKindOfDescriptorIsEnteredWhileOpen() {
    List<Integer> opened = new ArrayList<>();
    opened.add(LinuxCalls.socket(10, 2, 0));
    opened.add(LinuxCalls.epollCreate());
    opened.add(LinuxCalls.eventfd(0, 0));
    opened.add(FileCalls.openat(FileCalls.AT_FDCWD, "/dev/null", FileCalls.O_RDWR, 0));
    long ends = Memory.allocate(arena, 8, 8);
    assertEquals(0, PipeCalls.pipe(ends, 0));
    opened.add(Memory.getInt(ends));
    opened.add(Memory.getInt(ends + 4));
    opened.forEach(fd -> assertTrue(isEntered(fd), () -> "descriptor " + fd));
    opened.forEach(LinuxCalls::close);
    opened.forEach(fd -> assertEquals(0, inode(fd), () -> "descriptor " + fd));
  }

  @Test
  void failedCallsEnterNothing() {
    assertTrue(LinuxCalls.socket(10, 77, 0) < 0);
    assertEquals(-1, OwnDescriptors.opened(-1));
    assertEquals(OwnDescriptors.MOST, OwnDescriptors.opened(OwnDescriptors.MOST));
    OwnDescriptors.closing(-1);
    OwnDescriptors.closing(OwnDescriptors.MOST);
    assertEquals(0, Memory.getLong(table));
  }

  /*
   * Returns whether a descriptor has close-on-exec. Without it, a program that the host program
   * starts would inherit the connection.
   */
  private static boolean closesOnExec(int fd) {
    return (FileCalls.fcntl(fd, F_GETFD, 0) & FD_CLOEXEC) != 0;
  }

  private static void findsBothEnds(InetAddress loopback) throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(loopback, 0));
      InetSocketAddress door = (InetSocketAddress) server.getLocalAddress();
      int listens = OwnDescriptors.opened(door, null);
      for (int i = 0; i < 3; i++) {
        try (SocketChannel calls = SocketChannel.open(door);
            SocketChannel accepted = server.accept()) {
          int calling = find(calls);
          int called = find(accepted);
          assertEquals(3, java.util.Set.of(listens, calling, called).size());
          for (int fd : new int[] {listens, calling, called}) {
            assertTrue(fd >= 0 && closesOnExec(fd), "descriptor " + fd);
            assertTrue(
                Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd))
                    .toString()
                    .startsWith("socket:"));
          }
          OwnDescriptors.closing(calling);
          OwnDescriptors.closing(called);
        }
      }
      OwnDescriptors.closing(listens);
    }
  }

  private static int find(SocketChannel socket) throws IOException {
    return OwnDescriptors.opened(
        (InetSocketAddress) socket.getLocalAddress(),
        (InetSocketAddress) socket.getRemoteAddress());
  }

  @Test
  void socketsOpenedByJavaAreFoundByAddress() throws IOException {
    findsBothEnds(InetAddress.getByName("127.0.0.1"));
    findsBothEnds(InetAddress.getByName("0.0.0.0"));
    if (Files.exists(Path.of("/proc/net/if_inet6"))) {
      findsBothEnds(InetAddress.getByName("::1"));
    }
  }

  @Test
  void reusedNumberOfAnotherFileIsDetected() {
    int first = -1;
    int second = -2;
    long before = 0;
    while (first != second) { // another test thread may have used the number meanwhile
      first = LinuxCalls.socket(10, 2, 0);
      before = inode(first);
      LinuxCalls.close(first);
      second = LinuxCalls.socket(10, 2, 0);
      if (first != second) {
        LinuxCalls.close(second);
      }
    }
    assertNotEquals(before, inode(second));
    LinuxCalls.close(second);
  }
}
