package io.heddle.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.EndsWithin;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of the control socket with clients that misuse it. */
@EndsWithin(120)
class ControlSocketClientsTest {
  private static final ControlSocket.Daemon DAEMON =
      new ControlSocket.Daemon("heddle-test", "tester", "heddle test run", "rw-rw-rw-");

  private final List<String> lines = new CopyOnWriteArrayList<>();
  private Path folder;
  private Path path;
  private ControlSocket socket;

  @BeforeEach
  void listen() throws IOException {
    /* The path of a socket may have 107 bytes at most, so the folder is in /tmp. */
    folder = Files.createTempDirectory(Path.of("/tmp"), "test");
    path = folder.resolve("socket");
    socket =
        ControlSocket.listen(DAEMON, path, this::answer, (level, sentence) -> lines.add(sentence));
  }

  @AfterEach
  void close() throws IOException {
    socket.close();
    Files.deleteIfExists(folder);
  }

  private String answer(String question) {
    if (question.equals("break")) {
      throw new OutOfMemoryError("on purpose");
    }
    return "{\"asked\": \"" + question + "\"}";
  }

  private SocketChannel caller() throws IOException {
    return SocketChannel.open(UnixDomainSocketAddress.of(path));
  }

  private static boolean isHungUp(SocketChannel caller) throws IOException {
    try {
      return caller.read(ByteBuffer.allocate(8)) < 0;
    } catch (IOException reset) {
      return true;
    }
  }

  @Test
  void clientIsAnsweredDespiteSilentOnes() throws IOException {
    List<SocketChannel> silent = new ArrayList<>();
    try {
      for (int i = 0; i < 3 * ControlSocket.MAX_CLIENTS; i++) {
        silent.add(caller());
      }
      assertTrue(ControlSocket.request(DAEMON, path, "peers").contains("peers"));
      assertTrue(isHungUp(silent.getFirst()), "the one that has waited longest goes first");
      /* The last client is disconnected when its time for a request is over. */
      assertTrue(isHungUp(silent.getLast()));
    } finally {
      for (SocketChannel each : silent) {
        each.close();
      }
    }
    assertTrue(ControlSocket.request(DAEMON, path, "again").contains("again"));
  }

  @Test
  void endlessRequestIsRejected() throws IOException {
    try (SocketChannel caller = caller()) {
      ByteBuffer endless = ByteBuffer.allocate(ControlSocket.MAX_REQUEST_BYTES);
      caller.write(endless);
      assertTrue(isHungUp(caller));
    }
    assertTrue(ControlSocket.request(DAEMON, path, "next").contains("next"));
  }

  @Test
  void errorIsAnsweredAndLoggedOnce() {
    HeddleException failed =
        assertThrows(HeddleException.class, () -> ControlSocket.request(DAEMON, path, "break"));
    assertTrue(
        String.valueOf(failed.getMessage()).contains("java.lang.OutOfMemoryError: on purpose"),
        failed::toString);
    assertEquals(1, lines.size(), lines::toString);
    assertTrue(ControlSocket.request(DAEMON, path, "next").contains("next"));
  }
}
