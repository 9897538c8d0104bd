package io.heddle.tools.wan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Configurations of the demo's gateways and controller. */
final class WanConfigs {
  static final int SEED = 24_301;

  /** Configured capacity of each link in Mbit/s. No link is shaped to this rate. */
  static final int CAPACITY_MBPS = 20;

  /** Number of the segment list that leads through the PE. Only the near gateway has this list. */
  static final int PE_LIST = 4;

  static final int GRACE_S = 5;
  static final long AS = 65_000;
  static final String REFLECTOR = "fd00:c:9::1";

  /** Address from which the controller connects to the reflector. Both run on one node. */
  static final String CONTROLLER_ADDRESS = "fd00:c:9::2";

  private final Path folder;
  private final boolean reflected;
  private final int observers;

  /**
   * @param reflected whether a reflector is between controller and gateways
   * @param observers number of P nodes that report their links
   */
  WanConfigs(Path folder, boolean reflected, int observers) {
    this.folder = folder;
    this.reflected = reflected;
    this.observers = observers;
  }

  Path socket(String node) {
    return folder.resolve(node + ".sock");
  }

  /** Writes a node's configuration. */
  void write(String node, String text) throws IOException {
    Files.writeString(folder.resolve(node + ".conf"), text);
  }

  private String tls(String node, String before) {
    return """
    %1$scertificate = %2$s/%3$s.pem
    %1$skey = %2$s/%3$s.key
    %1$sauthorities = %2$s/ca.pem
    """
        .formatted(before, folder, node);
  }

  String gateway(int side) {
    int far = 3 - side;
    StringBuilder text =
        new StringBuilder(
            """
            lan = lan
            seed = %s
            control = %s
            elephant-mbps = 2
            elephant-silence-ms = 2000
            router-id = 10.0.0.%s
            as = %s
            bgp-port = %s
            rules-grace-s = %s
            telemetry = %s
            """
                .formatted(
                    SEED,
                    socket(WanNodes.gateway(side)),
                    side,
                    AS,
                    reflected ? 0 : 179,
                    GRACE_S,
                    WanNodes.management(side)));
    text.append(tls(WanNodes.gateway(side), "telemetry-"));
    text.append(
        """
        [controller main]
        address = %s
        passive = %s
        destinations = fc00:%s::/64
        [policy wan]
        destination = fc00:%s::/64
        """
            .formatted(
                reflected ? REFLECTOR : WanNodes.controller(side),
                reflected ? "no" : "yes",
                far,
                far));
    for (int i = 1; i <= WanNodes.PATHS; i++) {
      text.append(
          """
          [list sl%1$s]
          policy = wan
          id = %1$s
          segments = 5f00:0:%1$s::1, 5f00:0:9%2$s::d6
          device = w%1$s
          via = fc00:%3$s%1$s::2
          """
              .formatted(i, far == 1 ? 8 : 9, side));
    }
    if (side == 1) {
      text.append(
          """
          [policy spread]
          destination = fc00:2:0:4::/64
          [list wide]
          policy = spread
          id = %s
          segments = 5f00:0:99::d6
          device = w4
          via = fc00:14::2
          """
              .formatted(PE_LIST));
    }
    return text.toString();
  }

  /** Returns the configuration of a P node, which reports its interfaces. */
  String router(int path) {
    return "telemetry = "
        + WanNodes.routerManagement(path)
        + "\n"
        + tls(WanNodes.router(path), "telemetry-");
  }

  /** Returns the controller's configuration, with a cycle of one second. */
  String controller() {
    return controller(1_000);
  }

  /**
   * Returns the controller's configuration.
   *
   * @param intervalMs length of the controller's cycle, ms
   */
  String controller(int intervalMs) {
    StringBuilder text =
        new StringBuilder(
            """
            router-id = 10.0.0.9
            as = %s
            control = %s
            audit = %s
            interval-ms = %s
            # Above the 60 percent that the moved flow's list carries: measured, it would be at the threshold.
            high = 0.63
            hold-down-s = 3
            release-s = 3
            restart-s = %s
            """
                .formatted(
                    AS,
                    socket(WanNodes.CONTROLLER),
                    folder.resolve("audit.jsonl"),
                    intervalMs,
                    GRACE_S));
    text.append(tls(WanNodes.CONTROLLER, ""));
    for (int side = 1; side <= 2; side++) {
      String gateway = WanNodes.gateway(side);
      text.append(
          """
          [gateway %1$s]
          address = %2$s
          router-id = 10.0.0.%3$s
          """
              .formatted(gateway, WanNodes.management(side), side));
      if (!reflected) {
        text.append("[peer %s]\naddress = %s\n".formatted(gateway, WanNodes.management(side)));
      }
      for (int i = 1; i <= (side == 1 ? PE_LIST : WanNodes.PATHS); i++) {
        text.append(
            """
            [link %1$s-w%2$s]
            target = %1$s
            interface = w%2$s
            capacity-mbps = %3$s
            [path %1$s-sl%2$s]
            gateway = %1$s
            list = %2$s
            links = %1$s-w%2$s%4$s
            """
                .formatted(
                    gateway,
                    i,
                    CAPACITY_MBPS,
                    i > observers ? "" : ", %s-side%s".formatted(WanNodes.router(i), 3 - side)));
      }
    }
    for (int i = 1; i <= observers; i++) {
      text.append(observed(i));
    }
    if (reflected) {
      text.append(
          "[peer reflector]\naddress = %s\nlocal-address = %s\n"
              .formatted(REFLECTOR, CONTROLLER_ADDRESS));
    }
    return text.toString();
  }

  /*
   * Returns the part of the controller's configuration that reads a P node's counters of its links
   * to the gateways.
   */
  private static String observed(int path) {
    StringBuilder text =
        new StringBuilder(
            "[router %s]\naddress = %s\n"
                .formatted(WanNodes.router(path), WanNodes.routerManagement(path)));
    for (int side = 1; side <= 2; side++) {
      text.append(
          """
          [link %1$s-side%2$s]
          target = %1$s
          interface = side%2$s
          capacity-mbps = %3$s
          """
              .formatted(WanNodes.router(path), side, CAPACITY_MBPS));
    }
    return text.toString();
  }

  /**
   * Returns the configuration of GoBGP as the route reflector. GoBGP opens no connections itself.
   */
  String reflector() {
    StringBuilder text =
        new StringBuilder(
            """
            [global.config]
              as = %s
              router-id = "10.0.0.250"
              local-address-list = ["%s"]
            """
                .formatted(AS, REFLECTOR));
    for (String each :
        List.of(WanNodes.management(1), WanNodes.management(2), CONTROLLER_ADDRESS)) {
      text.append(
          String.format(
              Locale.ROOT,
              """
              [[neighbors]]
                [neighbors.config]
                  neighbor-address = "%s"
                  peer-as = %s
                [neighbors.transport.config]
                  passive-mode = true
                [neighbors.graceful-restart.config]
                  enabled = true
                  restart-time = 120
                [neighbors.route-reflector.config]
                  route-reflector-client = true
                  route-reflector-cluster-id = "10.0.0.250"
                [[neighbors.afi-safis]]
                  [neighbors.afi-safis.config]
                    afi-safi-name = "ipv6-flowspec"
                  [neighbors.afi-safis.mp-graceful-restart.config]
                    enabled = true
                [[neighbors.afi-safis]]
                  [neighbors.afi-safis.config]
                    afi-safi-name = "ipv4-flowspec"
                  [neighbors.afi-safis.mp-graceful-restart.config]
                    enabled = true
              """,
              each,
              AS));
    }
    return text.toString();
  }
}
