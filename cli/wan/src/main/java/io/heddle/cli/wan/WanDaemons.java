package io.heddle.cli.wan;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.wan.host.Certificates;
import io.heddle.cli.wan.host.NodeProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Namespaces, and in them gateways, controller and, where it is wanted, the reflector. */
final class WanDaemons {
  static final String REFLECTOR = "reflector";
  private static final Path GOBGP = Path.of("/usr/bin/gobgpd");
  private static final String CONTROLLER = "controller";

  private final boolean reflected;
  private final Path folder;
  private final int observers;
  final WanNodes nodes;
  final WanConfigs configs;
  final NodeProcesses processes;

  /**
   * Makes the nodes.
   *
   * @param folder empty; configurations and logs stay there
   * @param reflected whether GoBGP is between controller and gateways
   * @param observers so many P nodes report their links
   * @param cleanup takes them away
   */
  WanDaemons(Path folder, boolean reflected, int observers, Cleanup cleanup) {
    this.observers = observers;
    this.folder = folder;
    this.reflected = reflected;
    configs = new WanConfigs(folder, reflected, observers);
    nodes = cleanup.add(new WanNodes());
    nodes.setUp();
    processes = cleanup.add(new NodeProcesses(folder, nodes::namespace));
  }

  /** Whether GoBGP is installed, so that it can reflect. */
  static boolean canReflect() {
    return Files.isExecutable(GOBGP);
  }

  /** Writes what they need, and starts all. */
  void start() throws IOException {
    Certificates certificates = new Certificates(folder);
    for (int side = 1; side <= 2; side++) {
      certificates.sign(WanNodes.gateway(side), WanNodes.management(side));
      configs.write(WanNodes.gateway(side), configs.gateway(side));
    }
    for (int way = 1; way <= observers; way++) {
      certificates.sign(WanNodes.router(way), WanNodes.observer(way));
      configs.write(WanNodes.router(way), configs.router(way));
      processes.heddle(WanNodes.router(way), "gateway", "--observe");
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
    for (String each : List.of(WanConfigs.REFLECTOR, WanConfigs.CONTROLLER_AT)) {
      nodes.ip(WanNodes.CONTROLLER, "addr add " + each + "/128 dev lo nodad");
    }
    for (int side = 1; side <= 2; side++) {
      nodes.ip(
          WanNodes.gateway(side),
          "route add fd00:c:9::/64 via " + WanNodes.controller(side) + " dev mgmt");
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
