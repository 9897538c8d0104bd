package io.heddle.tools.job;

import io.heddle.cli.stat.RunNotice;
import io.heddle.platform.SystemCallException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Temporary folder of a run. It is removed at the end, or kept and reported if its logs are needed.
 * During the run, commands that inspect jobs find the run's statistics in it.
 */
public final class RunFolder implements AutoCloseable {
  private final Path path;
  private final @Nullable RunNotice notice;
  private volatile boolean kept;

  public RunFolder() throws IOException {
    path = Files.createTempDirectory("heddle-");
    notice = createNotice(path);
  }

  private static @Nullable RunNotice createNotice(Path folder) {
    try {
      return RunNotice.create(folder);
    } catch (SystemCallException failure) {
      System.err.println("heddle: " + RunNotice.failureText(failure));
      return null;
    }
  }

  public Path path() {
    return path;
  }

  /** Keeps the folder: {@link #close} doesn't remove it. */
  public void keep() {
    kept = true;
  }

  @Override
  public void close() throws IOException {
    if (notice != null) {
      notice.close();
    }
    if (kept) {
      System.err.println("heddle: logs of the run are kept in " + path);
    } else if (Files.exists(path)) {
      remove(path);
    }
  }

  /** Removes a folder recursively. */
  public static void remove(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
