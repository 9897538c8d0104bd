package io.heddle.tools.wan;

import io.heddle.cli.kit.Cleanup;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.tools.wan.host.Certificates;
import io.heddle.tools.wan.host.NodeProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Network namespaces with two gateways, a controller and, optionally, a route reflector. */
final class WanDaemons {
  static final String REFLECTOR = "reflector";
  private static final Path GOBGP = Path.of("/usr/bin/gobgpd");
  private static final String CONTROLLER = "controller";

  private final boolean reflected;
  private final Path folder;
  private final int observers;
  final NetworkNamespaces nodes;
  final WanConfigs configs;
  final NodeProcesses processes;

  /**
   * Creates the nodes.
   *
   * @param folder empty folder for configurations and logs, which are kept
   * @param reflected whether GoBGP is between controller and gateways
   * @param observers number of P nodes that report their links
   * @param cleanup removes the nodes when it is closed
   */
  WanDaemons(Path folder, boolean reflected, int observers, Cleanup cleanup) {
    this.observers = observers;
    this.folder = folder;
    this.reflected = reflected;
    configs = new WanConfigs(folder, reflected, observers);
    nodes = cleanup.add(WanNodes.declared().create());
    processes = cleanup.add(new NodeProcesses(folder, nodes::node));
  }

  /** Returns whether GoBGP, which is the route reflector, is installed. */
  static boolean canReflect() {
    return Files.isExecutable(GOBGP);
  }

  /** Writes the configurations and starts all daemons. */
  void start() throws IOException {
    Certificates certificates = new Certificates(folder);
    for (int side = 1; side <= 2; side++) {
      certificates.sign(WanNodes.gateway(side), WanNodes.management(side));
      configs.write(WanNodes.gateway(side), configs.gateway(side));
    }
    for (int path = 1; path <= observers; path++) {
      certificates.sign(WanNodes.router(path), WanNodes.routerManagement(path));
      configs.write(WanNodes.router(path), configs.router(path));
      processes.heddle(WanNodes.router(path), "gateway", "--observe");
    }
    certificates.sign(WanNodes.CONTROLLER, WanNodes.controller(1));
    configs.write(WanNodes.CONTROLLER, configs.controller());
    if (reflected) {
      connectReflector();
      startReflector();
    }
    startGateway(1);
    startGateway(2);
    startController();
  }

  private void connectReflector() throws IOException {
    for (String each : List.of(WanConfigs.REFLECTOR, WanConfigs.CONTROLLER_ADDRESS)) {
      nodes.node(WanNodes.CONTROLLER).ip("addr add " + each + "/128 dev lo nodad");
    }
    for (int side = 1; side <= 2; side++) {
      nodes
          .node(WanNodes.gateway(side))
          .ip("route add fd00:c:9::/64 via " + WanNodes.controller(side) + " dev mgmt");
    }
    configs.write(REFLECTOR, configs.reflector());
  }

  void startReflector() {
    processes.start(
        REFLECTOR,
        WanNodes.CONTROLLER,
        List.of(
            GOBGP.toString(),
            "-f",
            folder.resolve(REFLECTOR + ".conf").toString(),
            "-t",
            "toml",
            "--api-hosts",
            "127.0.0.1:50051"));
  }

  void startGateway(int side) {
    processes.heddle(WanNodes.gateway(side), "gateway");
  }

  void startController() {
    processes.heddle(WanNodes.CONTROLLER, CONTROLLER);
  }
}
