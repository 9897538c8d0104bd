package io.heddle.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the control socket's file. */
class ControlSocketTest {
  private static final ControlSocket.Daemon DAEMON =
      new ControlSocket.Daemon("heddle-test", "tester", "heddle test run", "rw-rw-rw-");

  @TempDir Path folder;

  private ControlSocket listen() {
    return ControlSocket.listen(
        DAEMON, folder.resolve("test.sock"), question -> "\"answer\"", (level, sentence) -> {});
  }

  private String refusal() {
    return String.valueOf(assertThrows(HeddleException.class, this::listen).getMessage());
  }

  @Test
  void predecessorsSocketIsReplaced() throws Exception {
    Path socket = folder.resolve("test.sock");
    try (ControlSocket first = listen();
        ControlSocket second = listen()) {
      assertEquals("\"answer\"", ControlSocket.request(DAEMON, socket, "anything").strip());
      assertEquals(
          "rw-rw-rw-", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)));
    }
    assertFalse(Files.exists(socket));
  }

  @Test
  void fileThatIsNoSocketStays() throws Exception {
    Path file = Files.writeString(folder.resolve("test.sock"), "mine");
    assertTrue(refusal().contains("there is a file of user "), refusal());
    assertEquals("mine", Files.readString(file));
    Files.delete(file);
    Path victim = Files.writeString(folder.resolve("victim"), "mine");
    Files.createSymbolicLink(file, victim);
    assertTrue(refusal().contains("there is a link of user "), refusal());
  }

  @Test
  void fileInThePlaceOfItsFolderIsNamed() throws Exception {
    Path file = Files.createFile(folder.resolve("file"));
    String refused =
        assertThrows(
                HeddleException.class,
                () ->
                    ControlSocket.listen(
                        DAEMON,
                        file.resolve("x.sock"),
                        question -> question,
                        (level, sentence) -> {}))
            .getMessage();
    assertTrue(refused.contains("can't be made: " + file + " isn't a directory;"), refused);
  }

  @Test
  void noSocketIsMadeInAFolderThatOthersMayWrite() throws Exception {
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertTrue(refusal().contains("mode 777"), refusal());
  }
}
