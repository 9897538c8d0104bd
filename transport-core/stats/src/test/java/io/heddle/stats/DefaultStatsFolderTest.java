package io.heddle.stats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.OpenFolder;
import io.heddle.platform.ProcessCalls;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DefaultStatsFolderTest {
  @TempDir Path sharedMemory;

  private Path first;

  @BeforeEach
  void name() {
    first = sharedMemory.resolve("heddle-" + System.getProperty("user.name"));
  }

  private DefaultStatsFolder.Found find(Path expected) {
    DefaultStatsFolder.Found found = DefaultStatsFolder.findOrCreate(sharedMemory);
    try (OpenFolder folder = found.folder()) {
      assertEquals(expected, folder.path());
      assertEquals(ProcessCalls.geteuid(), folder.status().owner());
      assertFalse(folder.status().isWritableByOthers(), folder.status().describe());
      assertTrue(Files.isDirectory(expected));
    }
    return found;
  }

  private Path numbered(int number) {
    return first.resolveSibling(first.getFileName() + "-" + number);
  }

  @Test
  void oneUserHasOneFolder() {
    assertEquals(List.of(), find(first).taken());
    assertEquals(List.of(), find(first).taken());
  }

  @Test
  void nameOfAFileIsSkipped() throws Exception {
    Files.createFile(first);
    find(numbered(2));
    Files.delete(numbered(2));
    Files.createFile(numbered(2));
    List<String> taken = find(numbered(3)).taken();
    assertTrue(taken.getFirst().startsWith(first + " is a file of user "), taken.toString());
  }

  @Test
  void linkIsNotFollowedEvenToOurOwnFolder() throws Exception {
    Path elsewhere = Files.createDirectory(sharedMemory.resolve("elsewhere"));
    Files.createSymbolicLink(first, elsewhere);
    List<String> taken = find(numbered(2)).taken();
    assertTrue(taken.getFirst().startsWith(first + " is a link of user "), taken.toString());
  }

  @Test
  void folderOfAnotherUserIsNotOursEvenIfWorldWritable() throws Exception {
    OtherUser.skipUnlessRoot();
    OtherUser.giveToOther(Files.createDirectory(first));
    Files.setPosixFilePermissions(first, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertEquals(
        List.of(first + " is a folder of user 65534, mode 777"), find(numbered(2)).taken());
  }

  @Test
  void noFolderIsFoundIfAllNamesAreTaken() throws Exception {
    Files.createFile(first);
    for (int number = 2; number <= 16; number++) {
      Files.createFile(numbered(number));
    }
    DefaultStatsFolder.Found found = DefaultStatsFolder.findOrCreate(sharedMemory);
    assertNull(found.folder());
    assertEquals(16, found.taken().size(), found.taken().toString());
  }

  @Test
  void folderMadeUnderALaxUmaskIsClosedToOthers() throws Exception {
    Files.createDirectory(first);
    Files.setPosixFilePermissions(first, PosixFilePermissions.fromString("rwxrwxr-x"));
    assertEquals(List.of(), find(first).taken());
    assertEquals("rwxr-xr-x", PosixFilePermissions.toString(Files.getPosixFilePermissions(first)));
  }

  @Test
  void userWithoutANameHasTheFolderOfItsNumber() throws Exception {
    String before = System.getProperty("user.name");
    System.setProperty("user.name", "?");
    try {
      find(
          sharedMemory.resolve(
              "heddle-uid" + Files.getAttribute(Path.of("/proc/self"), "unix:uid")));
    } finally {
      System.setProperty("user.name", before);
    }
    assertFalse(Files.exists(sharedMemory.resolve("heddle-?")));
  }
}
