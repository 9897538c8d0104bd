package io.heddle.routes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.NanoClock;
import io.heddle.platform.ProcessCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests which users' routes files are followed, and that nothing is written through symbolic links
 * that others have planted.
 */
class RoutesTrustTest {
  private static final int OTHER = 65_534;

  @TempDir private Path folder;

  private Path path;

  @BeforeEach
  void publish() {
    path = folder.resolve("routes");
    RoutesTestBed.of(folder, "p1").close();
  }

  private static void giveToOther(Path file) throws IOException {
    if (ProcessCalls.geteuid() != 0) {
      String reason = "only root can make files of another user";
      System.out.println("skipped: " + reason);
      Assumptions.abort(reason);
    }
    Files.setAttribute(file, "unix:uid", OTHER, LinkOption.NOFOLLOW_LINKS);
  }

  private static void setMode(Path file, String mode) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  private String refusalToRead() {
    return String.valueOf(
        assertThrows(HeddleException.class, () -> RouteReader.open(path, NanoClock.SYSTEM))
            .getMessage());
  }

  private String refusalToPublish() {
    return String.valueOf(
        assertThrows(HeddleException.class, () -> RoutesTestBed.of(folder, "p1")).getMessage());
  }

  @Test
  void fileOfAnotherUserIsNotFollowedAndItsUserIsReported() throws Exception {
    giveToOther(path);
    String refusal = refusalToRead();
    assertTrue(refusal.contains(path + " isn't followed: it is a file of user 65534"), refusal);
  }

  @Test
  void routesOfDaemonUserInItsFolderAreAccepted() throws Exception {
    giveToOther(path);
    giveToOther(folder);
    try (RouteReader reader = RouteReader.open(path, NanoClock.SYSTEM)) {
      assertNotNull(reader);
    }
    setMode(folder, "rwxrwxrwx");
    assertTrue(refusalToRead().contains("mode 777"), refusalToRead());
  }

  @Test
  void fileWritableByOthersIsNotFollowed() throws Exception {
    setMode(path, "rw-r--rw-");
    assertTrue(refusalToRead().contains("mode 646"), refusalToRead());
  }

  @Test
  void aLinkIsNotFollowed() throws Exception {
    Path elsewhere = Files.move(path, folder.resolve("elsewhere"));
    Files.createSymbolicLink(path, elsewhere);
    assertTrue(refusalToRead().contains("a link"), refusalToRead());
  }

  @Test
  void nothingIsPublishedIfOthersCouldReplaceIt() throws Exception {
    setMode(folder, "rwxrwxrwx");
    String refusal = refusalToPublish();
    assertTrue(refusal.contains(folder + " is a folder of user "), refusal);
    assertTrue(refusal.contains("mode 777"), refusal);
    assertEquals(0, new ProcessBuilder("chmod", "1777", folder.toString()).start().waitFor());
    RoutesTestBed.of(folder, "p1").close();
  }

  @Test
  void nothingIsWrittenThroughPlantedLinks() throws Exception {
    Path victim = Files.writeString(folder.resolve("victim"), "untouched");
    Files.delete(path);
    Files.createSymbolicLink(path, victim);
    Files.createSymbolicLink(Path.of(path + ".new"), victim);
    RoutesTestBed.of(folder, "p1").close();
    assertFalse(Files.isSymbolicLink(path));
    Path lock = Path.of(path + ".lock");
    Files.delete(lock);
    Files.createSymbolicLink(lock, victim);
    assertTrue(refusalToPublish().contains("a link"), refusalToPublish());
    assertEquals("untouched", Files.readString(victim));
  }
}
