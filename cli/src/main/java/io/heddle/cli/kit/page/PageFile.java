package io.heddle.cli.kit.page;

import io.heddle.platform.HeddleException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Check of the file to which an HTML page will be written. */
public final class PageFile {
  private PageFile() {}

  /**
   * Checks that the page can be written. Commands call this before a long run, so as not to fail
   * after it.
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
