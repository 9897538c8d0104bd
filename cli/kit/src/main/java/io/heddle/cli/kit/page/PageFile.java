package io.heddle.cli.kit.page;

import io.heddle.platform.HeddleException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where a page is to be written. */
public final class PageFile {
  private PageFile() {}

  /**
   * Asked before a long run, so that its page isn't refused at the end.
   *
   * @throws HeddleException where the file can't be written for its folder's sake, or is a folder
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
