package io.heddle.cli.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a file is replaced as a whole or not at all. */
class AtomicFileTest {
  @TempDir private Path folder;

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(each -> each.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void fileIsWrittenAndReplaced() throws IOException {
    Path file = folder.resolve("page");
    AtomicFile.write(file, "one");
    AtomicFile.write(file, "two");
    assertEquals("two", Files.readString(file));
    assertEquals(List.of("page"), names());
  }

  @Test
  void failedReplacementIsReportedAndLeavesNoFile() throws IOException {
    Path file = folder.resolve("page");
    Files.createDirectories(file.resolve("of a folder"));
    HeddleException refused =
        assertThrows(HeddleException.class, () -> AtomicFile.write(file, "one"));
    assertTrue(refused.getMessage().startsWith("can't write " + file + ": "), refused.getMessage());
    assertEquals(List.of("page"), names());
  }

  @Test
  void missingFolderIsReported() {
    Path file = folder.resolve("none").resolve("page");
    HeddleException refused =
        assertThrows(HeddleException.class, () -> AtomicFile.write(file, "one"));
    assertEquals("can't write " + file + ": it doesn't exist", refused.getMessage());
  }
}
