package io.heddle.tools.lab;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.platform.Shell;
import io.heddle.tools.lab.FabricTopology.Node;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * FRR on a leaf: the programs zebra, bgpd and bfdd, with a separate folder that FRR's user owns.
 */
final class FrrRouter {
  private static final Path LIBRARY = Path.of("/usr/lib/frr");
  private static final Path RUN = Path.of("/run/frr");
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final FabricTopology topology;
  private final FabricLinks links;
  private final FabricFolder folder;
  private final Node leaf;

  FrrRouter(FabricTopology topology, FabricLinks links, FabricFolder folder, Node leaf) {
    this.topology = topology;
    this.links = links;
    this.folder = folder;
    this.leaf = leaf;
  }

  private Path own() {
    return folder.file(leaf.name());
  }

  /** Returns the programs of this leaf, in the order in which they are started. */
  List<String> programs() {
    return topology.plan().bfdMs() > 0
        ? List.of("zebra", "bfdd", "bgpd")
        : List.of("zebra", "bgpd");
  }

  Path processFile(String program) {
    return own().resolve(program + ".pid");
  }

  void writeConfiguration() {
    FrrConfig config = new FrrConfig(topology, own());
    try {
      Files.createDirectories(own());
    } catch (IOException failed) {
      throw new LabException("can't create " + own() + ": " + failed, failed);
    }
    folder.write(leaf.name() + "/zebra.conf", config.zebra(leaf));
    folder.write(leaf.name() + "/bgpd.conf", config.bgpd(leaf));
    if (topology.plan().bfdMs() > 0) {
      folder.write(leaf.name() + "/bfdd.conf", config.bfdd(leaf));
    }
    Shell.run(List.of("chown", "-R", "frr:frr", own().toString()));
  }

  void start() {
    for (String program : programs()) {
      List<String> command = new ArrayList<>();
      command.add(LIBRARY.resolve(program).toString());
      command.addAll(List.of("-d", "-N", links.namespace(leaf)));
      command.addAll(List.of("-f", own().resolve(program + ".conf").toString()));
      command.addAll(List.of("-i", processFile(program).toString()));
      command.addAll(List.of("-z", own().resolve("zserv.sock").toString()));
      command.addAll(List.of("--vty_socket", own().toString(), "-A", "::1"));
      if (program.equals("bfdd")) {
        command.addAll(List.of("--bfdctl", own().resolve("bfdd.sock").toString()));
      }
      Shell.run(links.inside(leaf, command));
    }
  }

  /**
   * Removes the empty folders that FRR creates. Each program creates one for the name given with
   * -N.
   */
  static void removeFolders(String prefix) {
    if (!Files.isDirectory(RUN)) {
      return;
    }
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(RUN, prefix + "*")) {
      for (Path folder : folders) {
        Files.delete(folder);
      }
    } catch (IOException failed) {
      throw new LabException("can't remove FRR's folders in " + RUN + ": " + failed, failed);
    }
  }

  /** Returns vtysh's reply to a command. */
  String query(String command) {
    return Shell.run(
        links.inside(leaf, List.of("vtysh", "--vty_socket", own().toString(), "-c", command)));
  }

  FabricDaemons.Sessions sessions() {
    return sessions(leaf.name(), query("show bgp ipv6 unicast summary json"));
  }

  /** Counts the sessions in vtysh's JSON. Names of ports to hosts begin with h. */
  static FabricDaemons.Sessions sessions(String leaf, String answer) {
    int routers = 0;
    int hosts = 0;
    try {
      JsonNode peers = MAPPER.readTree(answer).path("peers");
      for (Map.Entry<String, JsonNode> peer : peers.properties()) {
        if (peer.getValue().path("state").asText().equals("Established")) {
          if (peer.getKey().startsWith("h")) {
            hosts++;
          } else {
            routers++;
          }
        }
      }
    } catch (JsonProcessingException garbage) {
      throw new LabException("vtysh on " + leaf + " printed no JSON: " + answer, garbage);
    }
    return new FabricDaemons.Sessions(routers, hosts);
  }
}
