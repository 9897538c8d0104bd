package io.heddle.cli.bench.perf;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Processor time of a process's threads, ns.
 *
 * @param all time of all living threads
 * @param named time of the threads with the requested names
 */
record ThreadTimes(long all, long named) {
  /** Length of a thread's name in the kernel. */
  private static final int NAME_LENGTH = 15;

  /** Reads the times of a running process; threads that end meanwhile are skipped. */
  static ThreadTimes of(long pid, List<String> names) throws IOException {
    long all = 0;
    long named = 0;
    Path tasks = Path.of("/proc", Long.toString(pid), "task");
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
      for (Path thread : threads) {
        try {
          String name = Files.readString(thread.resolve("comm")).strip();
          String times = Files.readString(thread.resolve("schedstat"));
          long ns = Long.parseLong(times.substring(0, times.indexOf(' ')));
          all += ns;
          if (names.stream().anyMatch(each -> truncated(each).equals(name))) {
            named += ns;
          }
        } catch (IOException ended) {
          continue;
        }
      }
    }
    return new ThreadTimes(all, named);
  }

  private static String truncated(String name) {
    return name.substring(0, Math.min(NAME_LENGTH, name.length()));
  }

  ThreadTimes since(ThreadTimes before) {
    return new ThreadTimes(Math.max(0, all - before.all), Math.max(0, named - before.named));
  }

  ThreadTimes and(ThreadTimes other) {
    return new ThreadTimes(all + other.all, named + other.named);
  }
}
