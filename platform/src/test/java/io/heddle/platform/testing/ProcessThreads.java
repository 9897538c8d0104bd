package io.heddle.platform.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reader of the kernel's files about a process's threads. It tolerates threads that end while it
 * reads.
 */
public final class ProcessThreads {
  private ProcessThreads() {}

  /**
   * Reads a file of the first thread whose name has this prefix (proc(5), {@code /proc/pid/task}).
   *
   * @param pid process id, or {@code self}
   * @param name prefix of the thread's name, up to 15 characters
   * @param file name of the file, such as {@code status} or {@code schedstat}
   * @return the file's text, or an empty text if there is no such thread
   */
  public static Optional<String> read(String pid, String name, String file) throws IOException {
    List<Path> threads;
    try (Stream<Path> listed = Files.list(Path.of("/proc", pid, "task"))) {
      threads = listed.toList();
    }
    for (Path thread : threads) {
      Optional<String> called = unlessEnded(thread.resolve("comm"));
      if (called.isPresent() && called.get().startsWith(name)) {
        Optional<String> text = unlessEnded(thread.resolve(file));
        if (text.isPresent()) {
          return text;
        }
      }
    }
    return Optional.empty();
  }

  /*
   * Returns the file's text; empty if the thread has ended. The error is then ENOENT, or ESRCH if
   * the thread ends between open and read.
   */
  private static Optional<String> unlessEnded(Path file) throws IOException {
    try {
      return Optional.of(Files.readString(file));
    } catch (IOException failure) {
      if (Files.exists(file)) {
        throw failure;
      }
      return Optional.empty();
    }
  }
}
