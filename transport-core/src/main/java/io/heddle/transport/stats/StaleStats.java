package io.heddle.transport.stats;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

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
   */
  static void remove(Path folder) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + SUFFIX + "{,.new}")) {
      for (Path file : files) {
        if (hasEnded(file)) {
          Files.deleteIfExists(file);
        }
      }
    }
  }

  /** Whether the file's process is gone, as far as this process can tell. */
  static boolean hasEnded(Path file) {
    return !isAlive(file) && isUnlocked(file);
  }

  private static boolean isAlive(Path file) {
    String name = file.getFileName().toString();
    try {
      long pid = Long.parseLong(name.substring(0, name.indexOf('.')));
      return ProcessHandle.of(pid).isPresent();
    } catch (NumberFormatException notOurs) {
      return true; // a name that this never gives: leave it alone
    }
  }

  private static boolean isUnlocked(Path file) {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock()) {
      return lock != null;
    } catch (IOException | OverlappingFileLockException inUseOrGone) {
      return false; // gone by another's hand, another user's, or locked by this very process
    }
  }
}
