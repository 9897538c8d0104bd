package io.heddle.cli.kit.page;

import io.heddle.platform.HeddleException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Check of a page's target file. */
public final class PageFile {
  private PageFile() {}

  /**
   * Checks that the page can be written, before a long run.
   *
   * @throws HeddleException if the folder is missing or not writable, or the file is a folder
   */
  public static void requireFolder(Path file) {
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      throw new HeddleException("can't write " + file + ": there is no folder " + folder);
    }
    if (Files.isDirectory(file)) {
      throw new HeddleException("can't write " + file + ": it is a folder");
    }
    if (!Files.isWritable(folder)) {
      throw new HeddleException("can't write " + file + ": no right to write into " + folder);
    }
  }
}
