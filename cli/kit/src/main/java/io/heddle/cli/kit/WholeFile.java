package io.heddle.cli.kit;

import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Files that nobody sees half of, also where the command is interrupted: written beside, then moved
 * to their place.
 */
public final class WholeFile {
  private WholeFile() {}

  /**
   * Writes a file, in the place of one that is there.
   *
   * @throws HeddleException where it can't be written, with its name and the reason; what was there
   *     stays, and nothing else is left
   */
  public static void write(Path file, String text) {
    Path whole = file.toAbsolutePath();
    Path beside = whole.resolveSibling(whole.getFileName() + ".new");
    try {
      try {
        Files.writeString(beside, text);
        Files.move(
            beside, whole, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
      } finally {
        Files.deleteIfExists(beside);
      }
    } catch (IOException failed) {
      throw new HeddleException("can't write " + file + ": " + FileFailure.reason(failed), failed);
    }
  }
}
