package io.heddle.cli.paths;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Paths of source ports to a peer: measured, or predicted from the measurement. */
public final class KnownPaths {
  private final PathsMeasurement measured;
  private final SortedMap<Integer, String> paths;
  private final @Nullable PathsFit fit;

  private KnownPaths(
      PathsMeasurement measured, SortedMap<Integer, String> paths, @Nullable PathsFit fit) {
    this.measured = measured;
    this.paths = paths;
    this.fit = fit;
  }

  /**
   * Reads a file that {@code heddle paths measure --save} wrote.
   *
   * @throws HeddleException if the file is not a measurement
   */
  public static KnownPaths read(Path file) throws IOException {
    PathsMeasurement measured = PathsMeasurement.read(file);
    List<Integer> branchings = measured.branchings();
    if (branchings.isEmpty()) {
      return new KnownPaths(measured, new TreeMap<>(), null);
    }
    return new KnownPaths(
        measured, measured.pathsUpTo(branchings.getLast()), PathsFit.linear(measured));
  }

  /** Returns the address of the measuring host. */
  public String source() {
    return measured.source();
  }

  /** Returns the address of the peer. */
  public String destination() {
    return measured.destination();
  }

  /** Returns the number of distinct measured paths. */
  public int count() {
    return Math.max(1, new TreeSet<>(paths.values()).size());
  }

  /**
   * Returns the path of a source port, as text: its routers at those hops at which paths differ.
   * Null if the path is neither measured nor predicted.
   */
  public @Nullable String path(int port) {
    String path = paths.get(port);
    return path == null && fit != null ? fit.path(port) : path;
  }
}
