package io.heddle.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A temporary folder for one run; removed at the end, or kept for its logs and named. */
public final class RunFolder implements AutoCloseable {
  private final Path path;
  private volatile boolean kept;

  public RunFolder() throws IOException {
    path = Files.createTempDirectory("heddle-");
  }

  public Path path() {
    return path;
  }

  /** It stays. */
  public void keep() {
    kept = true;
  }

  @Override
  public void close() throws IOException {
    if (kept) {
      System.err.println("heddle: what the run has logged is kept in " + path);
    } else if (Files.exists(path)) {
      remove(path);
    }
  }

  /** Removes a folder with all that is in it. */
  static void remove(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
