package io.heddle.tools.bench.perf;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Processor times of a process's threads, in ns.
 *
 * @param byThread processor time of every live thread, by thread ID
 * @param named sum of the processor times of the threads with the requested names
 */
record ThreadTimes(Map<Long, Long> byThread, long named) {
  /** Number of bytes of a thread's name that the kernel keeps. */
  private static final int NAME_LENGTH = 15;

  static final ThreadTimes NONE = new ThreadTimes(Map.of(), 0);

  /** Reads the times of a running process's threads. A thread that ends meanwhile is left out. */
  static ThreadTimes of(long pid, List<String> names) throws IOException {
    Map<Long, Long> byThread = new HashMap<>();
    long named = 0;
    Path tasks = Path.of("/proc", Long.toString(pid), "task");
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
      for (Path thread : threads) {
        try {
          String name = Files.readString(thread.resolve("comm")).strip();
          String times = Files.readString(thread.resolve("schedstat"));
          long ns = Long.parseLong(times.substring(0, times.indexOf(' ')));
          byThread.put(Long.parseLong(thread.getFileName().toString()), ns);
          if (names.stream().anyMatch(each -> truncated(each).equals(name))) {
            named += ns;
          }
        } catch (IOException ended) {
          continue;
        }
      }
    }
    return new ThreadTimes(byThread, named);
  }

  private static String truncated(String name) {
    return name.substring(0, Math.min(NAME_LENGTH, name.length()));
  }

  /** Returns the sum over all threads. */
  long all() {
    return byThread.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Returns the largest time of a thread; 0 without threads. */
  long busiest() {
    return byThread.values().stream().mapToLong(Long::longValue).max().orElse(0);
  }

  ThreadTimes since(ThreadTimes before) {
    Map<Long, Long> differences = new HashMap<>();
    byThread.forEach((thread, ns) ->
        differences.put(thread, Math.max(0, ns - before.byThread.getOrDefault(thread, 0L))));
    return new ThreadTimes(differences, Math.max(0, named - before.named));
  }

  ThreadTimes and(ThreadTimes other) {
    Map<Long, Long> sums = new HashMap<>(byThread);
    other.byThread.forEach((thread, ns) -> sums.merge(thread, ns, Long::sum));
    return new ThreadTimes(sums, named + other.named);
  }
}
