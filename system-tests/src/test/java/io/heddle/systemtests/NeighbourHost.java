package io.heddle.systemtests;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Host of its own for a route daemon and its BGP neighbours. The test chooses whether a neighbour
 * behaves well or which fault it has.
 */
final class NeighbourHost implements AutoCloseable {
  static final String GOOD = "fd00:ff::1";

  private static final int TICKS_PER_SECOND = 100;
  private static final String HOST = "bgp";

  private final NetworkNamespaces net;
  private final Path folder;
  private final List<Process> neighbours = new ArrayList<>();

  /** Creates the host. The neighbours and the daemon write their output to the folder. */
  NeighbourHost(Path folder) throws IOException {
    this.folder = folder;
    Skip.unless(Lab.Kind.NAMESPACES);
    try (InputStream script = NeighbourHost.class.getResourceAsStream("neighbour.py")) {
      Files.copy(script, folder.resolve("neighbour.py"));
    }
    NetworkTopology topology = NetworkTopology.of(HOST);
    for (int i = 1; i <= 5; i++) {
      topology.address(HOST, "lo", "fd00:ff::" + i + "/128");
    }
    /* d0's subnet has no other host, so all packets to it are lost. */
    net =
        topology
            .link(HOST + " d0", HOST + " d1")
            .address(HOST, "d0", "fd00:dd::1/64")
            .ip(HOST, "neigh add fd00:dd::2 lladdr 02:00:00:00:00:99 dev d0")
            .create();
  }

  /** Starts a neighbour of this role, as described in neighbour.py. */
  void neighbour(String role, String address) throws IOException {
    String script = folder.resolve("neighbour.py").toString();
    List<String> command =
        net.node(HOST).command(List.of("python3", script, role, address, folder + ""));
    neighbours.add(
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve(role + ".log").toFile())
            .start());
  }

  /** Returns a neighbour's section of the daemon's configuration. */
  static String peer(String name, String address) {
    return "[peer %1$s]\naddress = %2$s\nport = 1790\nas = 65002\nplane = %1$s\n"
        .formatted(name, address);
  }

  /**
   * Starts the daemon.
   *
   * @param more further lines of the daemon's configuration
   * @param before words in front of the daemon's command
   */
  RouteDaemonProcess daemon(String more, String... before) throws IOException {
    return RouteDaemonProcess.start(
        net.node(HOST).command(List.of(before)),
        folder.resolve("d"),
        "as = 65001\nannounce = no\nlisten-port = 0\n" + more);
  }

  /** Returns the CPU time that the daemon has used so far. */
  static double cpuSeconds(RouteDaemonProcess daemon) throws IOException {
    String stat = Files.readString(Path.of("/proc", Long.toString(daemon.pid()), "stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / (double) TICKS_PER_SECOND;
  }

  /** Returns the neighbours in the daemon's status, by name. */
  static Map<String, JsonNode> byName(JsonNode daemon) {
    Map<String, JsonNode> found = new TreeMap<>();
    daemon.path("neighbours").forEach(each -> found.put(each.path("name").asText(), each));
    return found;
  }

  @Override
  public void close() throws InterruptedException {
    for (Process neighbour : neighbours) {
      neighbour.destroyForcibly().waitFor();
    }
    net.close();
  }
}
