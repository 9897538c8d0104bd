package io.heddle.cli.kit;

import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Writer of whole files. It writes a temporary file and renames it, so that an interrupted command
 * leaves the old file or the new one, never a part.
 */
public final class AtomicFile {
  private AtomicFile() {}

  /**
   * Writes a file and replaces an existing one.
   *
   * @throws HeddleException if the file can't be written, with its name and the reason; the old
   *     file stays, and no temporary file is left
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
