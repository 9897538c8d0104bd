package io.heddle.stats;

import io.heddle.platform.LinuxCalls;
import io.heddle.platform.OpenFile;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.SystemCallException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Statistics files of processes that ended without closing: a host that is killed, or calls exit(),
 * runs none of our code.
 */
final class StaleStats {
  static final String SUFFIX = ".stats";
  static final String UNFINISHED_SUFFIX = SUFFIX + ".new";

  private StaleStats() {}

  /**
   * Removes the files in this folder whose process is gone and whose lock is free. Both, since
   * containers may share the folder and not the process numbers, and a lock goes when its process
   * merely reads its own file.
   *
   * @throws SystemCallException where one can't be removed
   */
  static void remove(OpenFolder folder) throws IOException {
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(folder.path(), "*" + SUFFIX + "{,.new}")) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        if (hasEnded(folder, name)) {
          folder.remove(name);
        }
      }
    }
  }

  /** Whether the file's process is gone, as far as this process can tell. */
  static boolean hasEnded(Path file) {
    try (OpenFolder folder = OpenFolder.around(file)) {
      return hasEnded(folder, file.getFileName().toString());
    } catch (SystemCallException unreadable) {
      return false; // the folder is gone, or another user's
    }
  }

  private static boolean hasEnded(OpenFolder folder, String name) {
    return !isAlive(name) && isUnlocked(folder, name);
  }

  private static boolean isAlive(String name) {
    try {
      return LinuxCalls.isAlive(Integer.parseInt(name.substring(0, name.indexOf('.'))));
    } catch (NumberFormatException notOurs) {
      return true; // a name that this never gives: leave it alone
    }
  }

  private static boolean isUnlocked(OpenFolder folder, String name) {
    try (OpenFile file = folder.open(name, false)) {
      return !file.isLocked();
    } catch (SystemCallException unreadable) {
      return false; // gone by another's hand, another user's, or no file
    }
  }
}
