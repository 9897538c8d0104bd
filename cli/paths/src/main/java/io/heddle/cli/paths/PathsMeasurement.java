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
 * Which routers the packets of each source port met on their way to a peer.
 *
 * @param source address of this host
 * @param destination the peer's address
 * @param length hops from this host to the last one that answered
 * @param reached whether that one was the peer
 * @param groups each router's next routers, as far as they answered
 * @param ports each port's way
 * @param inUse ports that weren't measured, as a program on this host has them
 */
record PathsMeasurement(
    String source,
    String destination,
    int length,
    boolean reached,
    List<NextRouters> groups,
    List<PortWay> ports,
    List<Integer> inUse) {
  /** What stands for a router that doesn't answer. */
  static final String SILENT = "silent";

  /**
   * What comes behind one router.
   *
   * @param hop of the next routers, from 1
   * @param behind the router before them; "this host" before the first
   * @param routers that answered, each with its flows
   * @param flows that passed and were answered
   * @param silent flows that passed and got no answer at this hop
   * @param confidence that there is no further next router, 0 to 1, if flows are shared evenly
   */
  record NextRouters(
      int hop,
      String behind,
      Map<String, Integer> routers,
      int flows,
      int silent,
      double confidence) {}

  /**
   * One port's way.
   *
   * @param port the source port
   * @param routers by hop; null where nobody answered
   */
  record PortWay(int port, List<@Nullable String> routers) {}

  /**
   * Reads what {@code heddle paths measure --json} printed.
   *
   * @throws HeddleException where the file is no measurement
   */
  static PathsMeasurement read(Path file) throws IOException {
    String text = Files.readString(file);
    try {
      PathsMeasurement found = Json.mapper().readValue(text, PathsMeasurement.class);
      if (found != null && found.ports != null && !found.ports.isEmpty()) {
        return found;
      }
    } catch (com.fasterxml.jackson.core.JsonProcessingException notOurs) {
      throw new HeddleException(
          file
              + " is no measurement: "
              + notOurs.getOriginalMessage()
              + "; make one with: heddle paths measure PEER --save "
              + file,
          notOurs);
    }
    throw new HeddleException(
        file + " has no ports; make it anew with: heddle paths measure PEER --save " + file);
  }

  /** The hops at which ports met different routers, from 1. */
  List<Integer> branchings() {
    List<Integer> hops = new ArrayList<>();
    for (int hop = 1; hop <= length; hop++) {
      SortedSet<String> met = new TreeSet<>();
      for (PortWay way : ports) {
        String router = at(way, hop);
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
   * Each port's way as one text, the routers where ways part up to a hop; without ports that met a
   * silent router there.
   *
   * @param upToHop the last hop that counts
   */
  SortedMap<Integer, String> ways(int upToHop) {
    SortedMap<Integer, String> ways = new TreeMap<>();
    List<Integer> hops = branchings().stream().filter(hop -> hop <= upToHop).toList();
    for (PortWay way : ports) {
      StringJoiner met = new StringJoiner(" > ");
      boolean known = true;
      for (int hop : hops) {
        String router = at(way, hop);
        known &= router != null;
        met.add(String.valueOf(router));
      }
      if (known) {
        ways.put(way.port(), met.toString());
      }
    }
    return ways;
  }

  private static @Nullable String at(PortWay way, int hop) {
    return hop <= way.routers().size() ? way.routers().get(hop - 1) : null;
  }
}
