package io.heddle.cli.simulate;

import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Pages on disk: a whole one or none, also where the command is interrupted. */
final class PageFile {
  private PageFile() {}

  /**
   * Asked before a long run, so that its page isn't refused at the end.
   *
   * @throws HeddleException where the file can't be written for its folder's sake, or is a folder
   */
  static void requireFolder(Path file) {
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

  /**
   * @throws HeddleException where the file can't be written
   */
  static void write(Path file, String html) {
    Path aside = file.resolveSibling(file.getFileName() + ".new");
    try {
      try {
        Files.writeString(aside, html);
        Files.move(aside, file, StandardCopyOption.REPLACE_EXISTING);
      } finally {
        Files.deleteIfExists(aside);
      }
    } catch (IOException failed) {
      throw new HeddleException("can't write " + file + ": " + FileFailure.reason(failed), failed);
    }
  }
}
