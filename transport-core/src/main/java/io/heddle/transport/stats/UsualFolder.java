package io.heddle.transport.stats;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where a process leaves its statistics unless it is told: {@code heddle-<user>} in shared memory.
 * Containers may share that, and have users of one name, or without any, who are others to the
 * kernel: who can't write to the folder of that name takes the next, {@code heddle-<user>-2} and so
 * on. Those who look for statistics look at all.
 */
final class UsualFolder {
  private static final int MOST = 16;
  private static final String NAMELESS = "?";

  private UsualFolder() {}

  /** The first that is this user's or can be made; the first of all where there is none. */
  static Path in(Path sharedMemory) {
    Path first = sharedMemory.resolve("heddle-" + user());
    Path folder = first;
    for (int number = 2; !isOurs(folder); number++) {
      if (number > MOST) {
        return first;
      }
      folder = first.resolveSibling(first.getFileName() + "-" + number);
    }
    return folder;
  }

  private static boolean isOurs(Path folder) {
    try {
      Files.createDirectories(folder);
    } catch (IOException taken) {
      return false;
    }
    return Files.isWritable(folder);
  }

  /* Java's name for a user whom no list of users names is a question mark. */
  private static String user() {
    String name = System.getProperty("user.name", NAMELESS);
    if (!name.equals(NAMELESS)) {
      return name;
    }
    try {
      return "uid" + Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    } catch (IOException hidden) {
      return "nobody";
    }
  }
}
