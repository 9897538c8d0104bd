package io.heddle.cli.paths;

import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Measurement of the routers on the path to a peer for each source port.
 *
 * @param source address of this host
 * @param destination address of the peer
 * @param length number of hops to the last one that replied
 * @param reached whether the peer itself replied
 * @param groups next hops of each router, as far as they replied
 * @param ports path of each port
 * @param inUse ports that weren't measured, since a program on this host uses them
 */
public record PathsMeasurement(
    String source,
    String destination,
    int length,
    boolean reached,
    List<NextRouters> groups,
    List<PortPath> ports,
    List<Integer> inUse) {
  /** Placeholder for a router that doesn't reply. */
  public static final String SILENT = "silent";

  /**
   * Next hops of one router.
   *
   * @param hop hop number of the next routers, from 1
   * @param behind router whose next hops these are; "this host" for the first hop
   * @param routers routers that replied, each with its number of flows
   * @param flows number of flows with a reply at this hop
   * @param silent number of flows without a reply at this hop
   * @param confidence probability that there is no further next router, 0 to 1, if flows are
   *     distributed evenly
   */
  public record NextRouters(
      int hop,
      String behind,
      Map<String, Integer> routers,
      int flows,
      int silent,
      double confidence) {}

  /**
   * Path of one port.
   *
   * @param port source port
   * @param routers routers by hop; null for a hop without reply
   */
  public record PortPath(int port, List<@Nullable String> routers) {}

  /**
   * Reads a document of {@code heddle paths measure --json}.
   *
   * @throws HeddleException if the file is not a measurement
   */
  public static PathsMeasurement read(Path file) throws IOException {
    String text = Files.readString(file);
    try {
      PathsMeasurement found = Json.mapper().readValue(text, PathsMeasurement.class);
      if (found != null && found.ports != null && !found.ports.isEmpty()) {
        return found;
      }
    } catch (com.fasterxml.jackson.core.JsonProcessingException notOurs) {
      throw new HeddleException(
          file
              + " is not a measurement: "
              + notOurs.getOriginalMessage()
              + "; make one with: heddle paths measure PEER --save "
              + file,
          notOurs);
    }
    throw new HeddleException(
        file + " has no ports; measure again with: heddle paths measure PEER --save " + file);
  }

  /** Returns the hops at which more than one router replied; the first hop is 1. */
  public List<Integer> branchings() {
    List<Integer> hops = new ArrayList<>();
    for (int hop = 1; hop <= length; hop++) {
      SortedSet<String> met = new TreeSet<>();
      for (PortPath path : ports) {
        String router = at(path, hop);
        if (router != null) {
          met.add(router);
        }
      }
      if (met.size() > 1) {
        hops.add(hop);
      }
    }
    return hops;
  }

  /**
   * Returns the path of each port, as text: its routers at the hops of {@link #branchings}, up to a
   * hop. Ports with a silent router at one of these hops are left out.
   *
   * @param upToHop last hop that counts
   */
  public SortedMap<Integer, String> pathsUpTo(int upToHop) {
    SortedMap<Integer, String> paths = new TreeMap<>();
    List<Integer> hops = branchings().stream().filter(hop -> hop <= upToHop).toList();
    for (PortPath path : ports) {
      StringJoiner met = new StringJoiner(" > ");
      boolean known = true;
      for (int hop : hops) {
        String router = at(path, hop);
        known &= router != null;
        met.add(String.valueOf(router));
      }
      if (known) {
        paths.put(path.port(), met.toString());
      }
    }
    return paths;
  }

  private static @Nullable String at(PortPath path, int hop) {
    return hop <= path.routers().size() ? path.routers().get(hop - 1) : null;
  }
}
