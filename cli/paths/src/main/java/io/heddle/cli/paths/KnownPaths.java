package io.heddle.cli.paths;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Which way a port's packets take to a peer, as far as a measurement tells. */
public final class KnownPaths {
  private final PathsMeasurement measured;
  private final SortedMap<Integer, String> ways;
  private final @Nullable PathsFit fit;

  private KnownPaths(
      PathsMeasurement measured, SortedMap<Integer, String> ways, @Nullable PathsFit fit) {
    this.measured = measured;
    this.ways = ways;
    this.fit = fit;
  }

  /**
   * Reads what {@code heddle paths measure --save} wrote.
   *
   * @throws HeddleException where the file is no measurement
   */
  public static KnownPaths read(Path file) throws IOException {
    PathsMeasurement measured = PathsMeasurement.read(file);
    List<Integer> branchings = measured.branchings();
    if (branchings.isEmpty()) {
      return new KnownPaths(measured, new TreeMap<>(), null);
    }
    return new KnownPaths(measured, measured.ways(branchings.getLast()), PathsFit.linear(measured));
  }

  /** The measuring host's address. */
  public String source() {
    return measured.source();
  }

  /** The peer's address. */
  public String destination() {
    return measured.destination();
  }

  /** How many ways ports were seen to take. */
  public int count() {
    return Math.max(1, new TreeSet<>(ways.values()).size());
  }

  /** The routers where ways part, for a port; null where it is neither measured nor foretold. */
  public @Nullable String way(int port) {
    String way = ways.get(port);
    return way == null && fit != null ? fit.way(port) : way;
  }
}
