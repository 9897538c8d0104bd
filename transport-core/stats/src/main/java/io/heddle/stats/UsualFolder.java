package io.heddle.stats;

import io.heddle.platform.Errno;
import io.heddle.platform.FileStatus;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.SystemCallException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a process leaves its statistics unless it is told: {@code heddle-<user>} in shared memory,
 * where everybody may make names. So a folder is this user's by its owner, not by who may write to
 * it; where the name is taken by another's folder or by a link, the next one is tried, {@code
 * heddle-<user>-2} and so on. Containers, too, may share that memory, and have users of one name,
 * or without any, who are others to the kernel. Those who look for statistics look at all.
 */
final class UsualFolder {
  private static final int MOST = 16;
  private static final String NAMELESS = "?";

  /* For all to read, less what the umask takes. */
  private static final int MODE = 0755;

  private UsualFolder() {}

  /**
   * What was found.
   *
   * @param folder the first that is this user's or could be made; null where all names are taken
   * @param taken what has the names before it, and whose it is, for a sentence
   */
  record Found(@Nullable OpenFolder folder, List<String> taken) {}

  /**
   * @throws SystemCallException where no folder can be made there
   */
  static Found in(Path sharedMemory) {
    Path first = sharedMemory.resolve("heddle-" + user());
    List<String> taken = new ArrayList<>();
    for (int number = 1; number <= MOST; number++) {
      Path path = number == 1 ? first : first.resolveSibling(first.getFileName() + "-" + number);
      OpenFolder folder = ours(path);
      if (folder != null) {
        return new Found(folder, taken);
      }
      FileStatus other = OpenFolder.look(path);
      taken.add(path + " is " + (other == null ? "coming and going" : other.describe()));
    }
    return new Found(null, taken);
  }

  private static @Nullable OpenFolder ours(Path path) {
    if (OpenFolder.look(path) == null) {
      OpenFolder.make(path, MODE);
    }
    OpenFolder folder = opened(path);
    if (folder == null) {
      return null;
    }
    try {
      FileStatus status = folder.status();
      if (status.owner() == LinuxCalls.geteuid()) {
        if (status.isWritableByOthers()) {
          folder.closeToOthers(); // a lax umask made it
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

  private static @Nullable OpenFolder opened(Path path) {
    try {
      return OpenFolder.open(path);
    } catch (SystemCallException failure) {
      return switch (failure.errno()) {
        case Errno.ENOTDIR, Errno.ELOOP, Errno.EACCES, Errno.ENOENT -> null;
        default -> throw failure;
      };
    }
  }

  /* Java's name for a user whom no list of users names is a question mark. */
  private static String user() {
    String name = System.getProperty("user.name", NAMELESS);
    return name.equals(NAMELESS) || name.indexOf('/') >= 0
        ? "uid" + Integer.toUnsignedString(LinuxCalls.geteuid())
        : name;
  }
}
