package io.heddle.stats;

import io.heddle.platform.OpenFile;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.ProcessCalls;
import io.heddle.platform.SystemCallException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Statistics files of processes that ended without closing them: a host process that is killed or
 * calls exit() runs none of our code.
 */
final class StaleStats {
  static final String SUFFIX = ".stats";
  static final String UNFINISHED_SUFFIX = SUFFIX + ".new";

  /*
   * Names of statistics files: <pid>.<namespace>.stats, without the namespace if /proc is hidden;
   * see StatsFile.
   */
  private static final Pattern NAME = Pattern.compile("(\\d+)(?:\\.(\\d+))?\\.stats(?:\\.new)?");

  private StaleStats() {}

  /**
   * Removes the files in this folder whose process is gone and whose lock is free. Both conditions
   * are required, since a process loses its lock by merely reading its own file. Containers may
   * share the folder but not the process numbers: for a file of another namespace only the lock
   * counts.
   *
   * @throws SystemCallException if a file can't be removed
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

  /** Returns the PID namespace in a file's name; empty if the name has none. */
  static String namespace(Path file) {
    Matcher parts = NAME.matcher(file.getFileName().toString());
    return parts.matches() && parts.group(2) != null ? parts.group(2) : "";
  }

  /** Returns whether the file's process is gone, as far as this process can see. */
  static boolean hasEnded(Path file) {
    try (OpenFolder folder = OpenFolder.parentOf(file)) {
      return hasEnded(folder, file.getFileName().toString());
    } catch (SystemCallException unreadable) {
      return false; // the folder is gone, or another user's
    }
  }

  private static boolean hasEnded(OpenFolder folder, String name) {
    return !isAlive(name) && isUnlocked(folder, name);
  }

  /*
   * Returns whether a process with the PID of this file's name exists. Returns false for a PID of
   * another namespace, which means nothing here: for such a file only the lock counts.
   */
  private static boolean isAlive(String name) {
    Matcher parts = NAME.matcher(name);
    if (!parts.matches()) {
      return true; // The name isn't one of this class: leave the file alone.
    }
    String namespace = parts.group(2);
    if (namespace != null && !namespace.equals(StatsFile.ownNamespace())) {
      return false;
    }
    try {
      return ProcessCalls.isAlive(Integer.parseInt(parts.group(1)));
    } catch (NumberFormatException tooLarge) {
      return true;
    }
  }

  private static boolean isUnlocked(OpenFolder folder, String name) {
    try (OpenFile file = folder.open(name, false)) {
      return !file.isLocked();
    } catch (SystemCallException unreadable) {
      // The file was removed meanwhile, belongs to another user, or isn't a regular file.
      return false;
    }
  }
}
