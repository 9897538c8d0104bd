package io.heddle.routes;

import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.platform.OpenFile;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.SystemCallException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lock file beside a routes file. The routes file's only writer holds the lock until the writer is
 * closed.
 */
final class PublishLock {
  private static final int MODE = 0644;

  private PublishLock() {}

  /**
   * Takes the lock. Creates the folder of the routes file if necessary.
   *
   * @throws HeddleException if another daemon has the lock, or if others could replace the
   *     published file
   */
  static OpenFile take(Path path) {
    Path file = path.resolveSibling(path.getFileName() + ".lock");
    try {
      makeFolder(path);
      try (OpenFolder folder = OpenFolder.parentOf(path)) {
        requireSafe(path, folder);
        OpenFile lock = folder.openOrCreate(file.getFileName().toString(), MODE);
        if (isTaken(lock)) {
          return lock;
        }
      }
    } catch (SystemCallException failure) {
      throw unpublished(path, FileFailure.reason(failure), failure);
    } catch (IOException failure) {
      throw unpublished(path, FileFailure.reason(failure), failure);
    }
    throw new HeddleException(
        "another daemon publishes routes at "
            + path
            + " (it holds "
            + file
            + "); stop it, or give this one another \"publish\" in its configuration");
  }

  private static boolean isTaken(OpenFile lock) {
    boolean taken = false;
    try {
      taken = lock.tryLockExclusively();
    } finally {
      if (!taken) {
        lock.close();
      }
    }
    return taken;
  }

  private static void makeFolder(Path path) throws IOException {
    Path folder = path.toAbsolutePath().getParent();
    if (folder != null && !Files.isDirectory(folder)) {
      Set<PosixFilePermission> mode = PosixFilePermissions.fromString("rwxr-xr-x");
      OpenFolder.createAbove(path, PosixFilePermissions.asFileAttribute(mode));
      /* Makes the folder readable for all users, like the file in it, whatever the umask is. */
      Files.setPosixFilePermissions(folder, mode);
    }
  }

  /*
   * Requires a folder in which other users can't replace the file. Otherwise jobs would follow
   * those users' routes.
   */
  private static void requireSafe(Path path, OpenFolder folder) {
    if (!folder.isSafe()) {
      throw unpublished(
          path,
          folder.path() + " is " + folder.status().describe() + ", not this user's or root's alone",
          null);
    }
  }

  private static HeddleException unpublished(Path path, String why, @Nullable Exception failure) {
    HeddleException exception =
        new HeddleException(
            "the routes file "
                + path
                + " can't be published: "
                + why
                + "; name a folder that can be written with \"publish\" in the configuration");
    if (failure != null) {
      exception.initCause(failure);
    }
    return exception;
  }
}
