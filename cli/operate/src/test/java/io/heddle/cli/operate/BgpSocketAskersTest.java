package io.heddle.cli.operate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.kit.QuestionSocket;
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
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The socket that anybody on the host may ask, and anybody may misuse. */
@EndsWithin(120)
class BgpSocketAskersTest {
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private Path folder;
  private Path path;
  private QuestionSocket socket;

  @BeforeEach
  void listen() throws IOException {
    /* A socket's name is short. */
    folder = Files.createTempDirectory(Path.of("/tmp"), "bgp");
    path = folder.resolve("socket");
    socket = BgpSocket.listen(path, this::answer, (level, sentence) -> lines.add(sentence));
  }

  @AfterEach
  void close() throws IOException {
    socket.close();
    Files.deleteIfExists(folder);
  }

  private Object answer(String question) {
    if (question.equals("break")) {
      throw new OutOfMemoryError("as asked");
    }
    return Map.of("asked", question);
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
  void whoAsksIsAnsweredWhateverOthersDo() throws IOException {
    List<SocketChannel> silent = new ArrayList<>();
    try {
      for (int i = 0; i < 3 * QuestionSocket.MOST_ASKERS; i++) {
        silent.add(caller());
      }
      assertTrue(BgpSocket.ask(path, "peers").contains("peers"));
      assertTrue(isHungUp(silent.getFirst()), "the one that has waited longest goes first");
      /* And the last when its time is over. */
      assertTrue(isHungUp(silent.getLast()));
    } finally {
      for (SocketChannel each : silent) {
        each.close();
      }
    }
    assertTrue(BgpSocket.ask(path, "again").contains("again"));
  }

  @Test
  void aQuestionWithoutAnEndIsNone() throws IOException {
    try (SocketChannel caller = caller()) {
      ByteBuffer endless = ByteBuffer.allocate(QuestionSocket.LONGEST_QUESTION_BYTES);
      caller.write(endless);
      assertTrue(isHungUp(caller));
    }
    assertTrue(BgpSocket.ask(path, "next").contains("next"));
  }

  @Test
  void anErrorIsTheAnswerAndToldOnce() {
    HeddleException failed =
        assertThrows(HeddleException.class, () -> BgpSocket.ask(path, "break"));
    assertTrue(
        String.valueOf(failed.getMessage()).contains("java.lang.OutOfMemoryError: as asked"),
        failed::toString);
    assertEquals(1, lines.size(), lines::toString);
    assertTrue(BgpSocket.ask(path, "next").contains("next"));
  }
}
