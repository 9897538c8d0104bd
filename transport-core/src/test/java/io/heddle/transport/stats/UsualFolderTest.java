package io.heddle.transport.stats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UsualFolderTest {
  @TempDir Path sharedMemory;

  @Test
  void oneUserHasOneFolder() {
    Path folder = UsualFolder.in(sharedMemory);
    assertEquals(folder, UsualFolder.in(sharedMemory));
    assertEquals("heddle-" + System.getProperty("user.name"), folder.getFileName().toString());
  }

  /* Root may write to everybody's folders: what it can't write to either is a file. */
  @Test
  void whereTheNameIsAnothersTheNextOneIsTaken() throws Exception {
    Path first = UsualFolder.in(sharedMemory);
    Files.delete(first);
    Files.createFile(first);
    Path second = first.resolveSibling(first.getFileName() + "-2");
    assertEquals(second, UsualFolder.in(sharedMemory));
    Files.delete(second);
    Files.createFile(second);
    assertEquals(first.resolveSibling(first.getFileName() + "-3"), UsualFolder.in(sharedMemory));
  }

  @Test
  void aUserWhomNobodyNamesHasTheFolderOfItsNumber() throws Exception {
    String before = System.getProperty("user.name");
    System.setProperty("user.name", "?");
    try {
      assertEquals(
          "heddle-uid" + Files.getAttribute(Path.of("/proc/self"), "unix:uid"),
          UsualFolder.in(sharedMemory).getFileName().toString());
    } finally {
      System.setProperty("user.name", before);
    }
    assertFalse(Files.exists(sharedMemory.resolve("heddle-?")));
  }
}
