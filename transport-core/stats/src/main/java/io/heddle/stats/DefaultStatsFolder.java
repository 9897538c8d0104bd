package io.heddle.stats;

import io.heddle.platform.Errno;
import io.heddle.platform.FileStatus;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.ProcessCalls;
import io.heddle.platform.SystemCallException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Default folder of the statistics: {@code heddle-<user>} in shared memory, where every user may
 * create folders. A folder counts as this user's if this user owns it, even if others may write to
 * it. If another user's folder or a link has the name, the next one is tried: {@code
 * heddle-<user>-2} and so on. Containers may share that memory. Users of different containers may
 * have equal names or none, but are different users to the kernel. Readers of statistics search all
 * these folders.
 */
final class DefaultStatsFolder {
  private static final int MOST = 16;
  private static final String NAMELESS = "?";

  /* Mode of the folder: readable by all, less the umask. */
  private static final int MODE = 0755;

  private DefaultStatsFolder() {}

  /**
   * Result of a search.
   *
   * @param folder first folder that is this user's or could be created; null if all names are taken
   * @param taken descriptions of the occupied names that were tried before, for a message
   */
  record Found(@Nullable OpenFolder folder, List<String> taken) {}

  /**
   * Finds or creates this user's folder.
   *
   * @throws SystemCallException if no folder can be created in the shared memory
   */
  static Found findOrCreate(Path sharedMemory) {
    Path first = sharedMemory.resolve("heddle-" + user());
    List<String> taken = new ArrayList<>();
    for (int number = 1; number <= MOST; number++) {
      Path path = number == 1 ? first : first.resolveSibling(first.getFileName() + "-" + number);
      OpenFolder folder = openIfOwn(path);
      if (folder != null) {
        return new Found(folder, taken);
      }
      FileStatus other = OpenFolder.statusOf(path);
      taken.add(path + " is " + (other == null ? "appearing and disappearing" : other.describe()));
    }
    return new Found(null, taken);
  }

  private static @Nullable OpenFolder openIfOwn(Path path) {
    if (OpenFolder.statusOf(path) == null) {
      OpenFolder.createIfMissing(path, MODE);
    }
    OpenFolder folder = openIfFolder(path);
    if (folder == null) {
      return null;
    }
    try {
      FileStatus status = folder.status();
      if (status.owner() == ProcessCalls.geteuid()) {
        if (status.isWritableByOthers()) {
          folder.denyWriteToOthers(); // the folder was created under a lax umask
        }
        return folder;
      }
    } catch (SystemCallException failure) {
      folder.close();
      throw failure;
    }
    folder.close();
    return null;
  }

  private static @Nullable OpenFolder openIfFolder(Path path) {
    try {
      return OpenFolder.open(path);
    } catch (SystemCallException failure) {
      return switch (failure.errno()) {
        case Errno.ENOTDIR, Errno.ELOOP, Errno.EACCES, Errno.ENOENT -> null;
        default -> throw failure;
      };
    }
  }

  /*
   * Returns the user's name, or the user's number if there is no name: Java returns a question mark
   * for a user without an entry in the user database.
   */
  private static String user() {
    String name = System.getProperty("user.name", NAMELESS);
    return name.equals(NAMELESS) || name.indexOf('/') >= 0
        ? "uid" + Integer.toUnsignedString(ProcessCalls.geteuid())
        : name;
  }
}
