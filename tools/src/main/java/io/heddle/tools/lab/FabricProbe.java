package io.heddle.tools.lab;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.platform.Shell;
import io.heddle.tools.lab.FabricTopology.End;
import io.heddle.tools.lab.FabricTopology.Link;
import io.heddle.tools.lab.FabricTopology.Node;
import io.heddle.tools.lab.FabricTopology.Role;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Reader of a fabric's status, from the kernel in its namespaces and from its daemons. */
final class FabricProbe {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final double GIGA = 1e9;

  private final FabricTopology topology;
  private final FabricLinks links;
  private final FabricDaemons daemons;

  FabricProbe(FabricTopology topology, FabricLinks links, FabricDaemons daemons) {
    this.topology = topology;
    this.links = links;
    this.daemons = daemons;
  }

  /**
   * Routes of all leaves to a plane's remote prefixes: the number that use the plane's own path,
   * the number of all, and the interfaces of routes that use another plane's path.
   */
  private record Paths(int own, int all, List<String> borrowed) {}

  private JsonNode ip(Node node, String... arguments) {
    List<String> command = new ArrayList<>(List.of("ip", "-n", links.namespace(node), "-j"));
    command.addAll(Arrays.asList(arguments));
    return parse(Shell.run(command), command);
  }

  private static JsonNode parse(String output, List<String> command) {
    try {
      return MAPPER.readTree(output.isBlank() ? "[]" : output);
    } catch (JsonProcessingException garbage) {
      throw new LabException(
          String.join(" ", command) + " printed no JSON: " + garbage.getMessage(), garbage);
    }
  }

  FabricStatus status(FabricState state) {
    List<FabricStatus.PlaneStatus> planes = planes();
    List<FabricStatus.RouterStatus> routers = new ArrayList<>();
    for (Node router : topology.routers()) {
      routers.add(router(router));
    }
    List<FabricStatus.HostStatus> hosts = new ArrayList<>();
    for (Node host : topology.nodes(Role.HOST)) {
      hosts.add(host(host));
    }
    boolean healthy =
        state.complete()
            && routers.stream().allMatch(FabricStatus.RouterStatus::alive)
            && planes.stream()
                .allMatch(one -> one.ownPaths() == one.paths() && one.cuts().isEmpty())
            && hosts.stream().allMatch(host -> host.missing().isEmpty());
    return new FabricStatus(
        state.name(), state.plan().shape().text(), state.since(), healthy, planes, routers, hosts);
  }

  List<Long> receivedBytesByPlane() {
    long[] bytes = new long[topology.plan().planes()];
    Map<Node, Map<String, JsonNode>> devices = new HashMap<>();
    for (Link link : topology.planeLinks()) {
      devices.computeIfAbsent(
          link.counted().node(), node -> byName(ip(node, "-s", "link", "show")));
      bytes[link.plane() - 1] += counters(devices, link.counted()).path("bytes").asLong();
    }
    return Arrays.stream(bytes).boxed().toList();
  }

  private List<FabricStatus.PlaneStatus> planes() {
    Map<Node, Map<String, JsonNode>> devices = new HashMap<>();
    Map<Node, String> tables = new HashMap<>();
    Map<Node, Map<String, Set<String>>> routes = new HashMap<>();
    for (Node router : topology.routers()) {
      devices.put(router, byName(ip(router, "-s", "link", "show")));
    }
    for (Node leaf : topology.nodes(Role.LEAF)) {
      tables.put(leaf, Shell.run(links.inside(leaf, List.of("nft", "list", "tables"))));
      routes.put(leaf, routes(leaf));
    }
    List<FabricStatus.PlaneStatus> planes = new ArrayList<>();
    for (int plane = 1; plane <= topology.plan().planes(); plane++) {
      planes.add(plane(plane, devices, tables, routes));
    }
    return planes;
  }

  private FabricStatus.PlaneStatus plane(
      int plane,
      Map<Node, Map<String, JsonNode>> devices,
      Map<Node, String> tables,
      Map<Node, Map<String, Set<String>>> routes) {
    long bytes = 0;
    long packets = 0;
    List<String> cuts = new ArrayList<>();
    for (Link link : topology.planeLinks()) {
      if (link.plane() != plane) {
        continue;
      }
      JsonNode received = counters(devices, link.counted());
      bytes += received.path("bytes").asLong();
      packets += received.path("packets").asLong();
      String name = link.leaf().node().name() + ":" + link.leaf().interfaceName();
      if (!flags(devices, link.leaf()).contains("\"UP\"")) {
        cuts.add(name + " carrier");
      }
      String leafTables = tables.getOrDefault(link.leaf().node(), "");
      if (leafTables.lines().anyMatch(line -> line.endsWith(" " + FabricLinks.table(link)))) {
        cuts.add(name + " silent");
      }
    }
    Paths paths = paths(plane, routes);
    FabricPlan plan = topology.plan();
    String via =
        plan.shape() == FabricShape.LEAF_SPINE
            ? "spine " + topology.trunkName(plane)
            : "leaf l" + plane;
    return new FabricStatus.PlaneStatus(
        plane,
        via,
        plan.rate(plane) / GIGA,
        plan.bandwidth(plane),
        bytes,
        packets,
        paths.own(),
        paths.all(),
        paths.borrowed(),
        cuts);
  }

  private static JsonNode counters(Map<Node, Map<String, JsonNode>> devices, End end) {
    return device(devices, end).path("stats64").path("rx");
  }

  private static String flags(Map<Node, Map<String, JsonNode>> devices, End end) {
    return device(devices, end).path("flags").toString();
  }

  private static JsonNode device(Map<Node, Map<String, JsonNode>> devices, End end) {
    JsonNode device = devices.getOrDefault(end.node(), Map.of()).get(end.interfaceName());
    if (device == null) {
      throw new LabException(
          "the lab's "
              + end.node().name()
              + " has lost its interface "
              + end.interfaceName()
              + "; take the lab down and up again");
    }
    return device;
  }

  private static Map<String, JsonNode> byName(JsonNode list) {
    Map<String, JsonNode> byName = new HashMap<>();
    list.forEach(device -> byName.put(device.path("ifname").asText(), device));
    return byName;
  }

  /** Returns the interfaces of the next hops of each destination. */
  private Map<String, Set<String>> routes(Node leaf) {
    Map<String, Set<String>> routes = new HashMap<>();
    for (JsonNode route : ip(leaf, "-6", "route", "show")) {
      Set<String> devices =
          routes.computeIfAbsent(route.path("dst").asText(), key -> new TreeSet<>());
      if (route.has("dev")) {
        devices.add(route.path("dev").asText());
      }
      route.path("nexthops").forEach(hop -> devices.add(hop.path("dev").asText()));
    }
    return routes;
  }

  private Paths paths(int plane, Map<Node, Map<String, Set<String>>> routes) {
    if (topology.plan().shape() == FabricShape.PLANES) {
      return new Paths(0, 0, List.of());
    }
    int own = 0;
    int all = 0;
    Set<String> borrowed = new TreeSet<>();
    for (Node leaf : topology.nodes(Role.LEAF)) {
      for (Node host : topology.nodes(Role.HOST)) {
        if (topology.leafOf(host).equals(leaf)) {
          continue;
        }
        all++;
        Set<String> via =
            routes
                .getOrDefault(leaf, Map.of())
                .getOrDefault(topology.prefix(host, plane), Set.of());
        if (via.equals(Set.of(topology.trunkName(plane)))) {
          own++;
        } else {
          via.forEach(device -> borrowed.add(leaf.name() + ":" + device));
        }
      }
    }
    return new Paths(own, all, List.copyOf(borrowed));
  }

  private FabricStatus.RouterStatus router(Node router) {
    List<Long> pids = new ArrayList<>();
    List<String> programs = new ArrayList<>();
    boolean alive = true;
    for (FabricDaemons.Daemon daemon : daemons.of(router)) {
      pids.add(daemon.pid());
      programs.add(daemon.program());
      alive &= daemon.alive();
    }
    int expected = topology.sessions(router);
    FabricDaemons.Sessions sessions =
        alive ? daemons.sessions(router) : new FabricDaemons.Sessions(0, 0);
    return new FabricStatus.RouterStatus(
        router.name(),
        String.join("+", programs),
        pids,
        alive,
        sessions.routers(),
        expected,
        sessions.hosts());
  }

  private FabricStatus.HostStatus host(Node host) {
    Set<String> formed = new TreeSet<>();
    for (JsonNode device : ip(host, "-6", "addr", "show", "scope", "global", "-tentative")) {
      device.path("addr_info").forEach(one -> formed.add(one.path("local").asText()));
    }
    List<String> addresses = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (int plane = 1; plane <= topology.plan().planes(); plane++) {
      String expected = topology.address(host, plane);
      (formed.contains(expected) ? addresses : missing).add(expected);
    }
    return new FabricStatus.HostStatus(host.name(), links.namespace(host), addresses, missing);
  }
}
