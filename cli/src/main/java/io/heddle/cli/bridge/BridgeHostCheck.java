package io.heddle.cli.bridge;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.fabric.WireSpec;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.Shell;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Check of the bridge's host for the usual causes of missing and duplicate packets. It changes
 * nothing, and can't see beyond the host's links.
 */
final class BridgeHostCheck {
  private static final Path SETTINGS = Path.of("/proc/sys/net/ipv4/conf");
  private static final int LOOSE = 2;

  /**
   * Fault found on the host.
   *
   * @param cause name of the cause, for scripts: no-multicast, mtu-differs, no-route, rp-filter,
   *     no-querier, kernel-routes, firewall
   * @param fabric fabric with the fault, a or b; empty if the fault concerns both
   * @param evidence observed state
   * @param remedy suggested action
   */
  record Finding(String cause, String fabric, String evidence, String remedy) {}

  /**
   * Findings on the bridge's host.
   *
   * @param interfaces names of the checked interfaces
   * @param findings faults found; empty if there are none
   */
  record Report(List<String> interfaces, List<Finding> findings) {
    String text() {
      StringBuilder text = new StringBuilder();
      for (Finding each : findings) {
        text.append(each.cause())
            .append(each.fabric().isEmpty() ? "" : " (fabric " + each.fabric() + ")")
            .append(": ")
            .append(each.evidence())
            .append("\n  remedy: ")
            .append(each.remedy())
            .append('\n');
      }
      return text
          + (findings.isEmpty() ? "no fault found on " : "checked ")
          + String.join(" and ", interfaces)
          + "\n";
    }
  }

  private final BridgeConfig config;
  private final List<Finding> findings = new ArrayList<>();

  private BridgeHostCheck(BridgeConfig config) {
    this.config = config;
  }

  /**
   * Checks the interfaces of the fabrics of kind wire. Each is checked in its configured network
   * namespace, or in the calling thread's if none is configured.
   */
  static Report check(BridgeConfig config) {
    return new BridgeHostCheck(config).check();
  }

  private Report check() {
    List<String> interfaces = new ArrayList<>();
    List<Integer> mtus = new ArrayList<>();
    for (int side = 0; side < 2; side++) {
      if (config.fabrics().get(side) instanceof WireSpec wire) {
        interfaces.add(wire.interfaceName());
        int number = side;
        mtus.add(
            wire.namespace().isEmpty()
                ? checkInterface(number, wire)
                : NetworkNamespace.call(wire.namespace(), () -> checkInterface(number, wire)));
      }
    }
    if (mtus.size() == 2 && !mtus.getFirst().equals(mtus.getLast())) {
      findings.add(
          new Finding(
              "mtu-differs",
              "",
              "%s has an MTU of %s bytes and %s one of %s"
                  .formatted(
                      interfaces.getFirst(), mtus.getFirst(), interfaces.getLast(), mtus.getLast()),
              "give both one MTU; larger packets are dropped as too-large"));
    }
    return new Report(List.copyOf(interfaces), List.copyOf(findings));
  }

  /* Checks an interface, and returns its MTU. */
  private int checkInterface(int side, WireSpec fabric) {
    JsonNode link = ip("-d", "link", "show", "dev", fabric.interfaceName()).path(0);
    boolean multicast = false;
    for (JsonNode flag : link.path("flags")) {
      multicast |= flag.asText().equals("MULTICAST");
    }
    if (!multicast) {
      add(
          "no-multicast",
          fabric,
          fabric.interfaceName() + " is set not to carry multicast",
          "ip link set " + fabric.interfaceName() + " multicast on");
    }
    routes(side, fabric);
    querier(fabric, link.path("master").asText());
    kernelRoutes(fabric);
    firewall(fabric);
    return link.path("mtu").asInt();
  }

  private void routes(int side, WireSpec fabric) {
    int filter =
        Math.max(setting("all", "rp_filter"), setting(fabric.interfaceName(), "rp_filter"));
    for (LoopRules.Prefix prefix : config.prefixes().get(side)) {
      String device = routeTo(host(prefix));
      if (device == null) {
        boolean drops = prefix.address().isIpv4Mapped() && filter > 0;
        add(
            "no-route",
            fabric,
            "there is no route to its hosts, "
                + prefix
                + (drops ? ", so the kernel drops what comes from them (rp_filter)" : ""),
            "ip route add " + prefix + " dev " + fabric.interfaceName());
      } else if (!device.equals(fabric.interfaceName())
          && prefix.address().isIpv4Mapped()
          && filter > 0
          && filter < LOOSE) {
        add(
            "rp-filter",
            fabric,
            "the route to its hosts, "
                + prefix
                + ", is by "
                + device
                + ", and strict rp_filter drops what comes from them by "
                + fabric.interfaceName(),
            "sysctl net.ipv4.conf." + fabric.interfaceName() + ".rp_filter=2, or mend the route");
      }
    }
  }

  /*
   * Returns an address in the prefix other than the network address, which is routed differently.
   */
  private static Gid host(LoopRules.Prefix prefix) {
    boolean single = prefix.bits() == 128;
    Gid address = prefix.address();
    return single ? address : new Gid(address.high(), address.low() | 1);
  }

  private static @Nullable String routeTo(Gid address) {
    try {
      return ip("route", "get", address.toString()).path(0).path("dev").asText();
    } catch (HeddleException none) {
      return null;
    }
  }

  /*
   * Checks whether the Linux bridge that has the interface as a port sends multicast queries. Other
   * switches can't be checked from here.
   */
  private void querier(WireSpec fabric, String master) {
    if (master.isEmpty()) {
      return;
    }
    JsonNode info = ip("-d", "link", "show", "dev", master).path(0).path("linkinfo");
    JsonNode data = info.path("info_data");
    if (info.path("info_kind").asText().equals("bridge")
        && data.path("mcast_snooping").asInt() == 1
        && data.path("mcast_querier").asInt() == 0) {
      add(
          "no-querier",
          fabric,
          master + " snoops and doesn't query: without a querier groups stop after some minutes",
          "ip link set " + master + " type bridge mcast_querier 1, unless a router there queries");
    }
  }

  private void kernelRoutes(WireSpec fabric) {
    try {
      boolean routes =
          Files.readAllLines(Path.of("/proc/thread-self/net/ip_mr_vif")).stream()
              .anyMatch(
                  line -> List.of(line.strip().split("\\s+")).contains(fabric.interfaceName()));
      if (routes) {
        add(
            "kernel-routes",
            fabric,
            "the kernel routes multicast at " + fabric.interfaceName() + " too",
            "end its multicast routing daemon for these interfaces, or packets come twice");
      }
    } catch (IOException none) {
      /* A kernel without multicast routing lacks the file ip_mr_vif. */
    }
  }

  private void firewall(WireSpec fabric) {
    String rules;
    try {
      rules = Shell.run(List.of("nft", "list", "ruleset"), "");
    } catch (HeddleException none) {
      /* Without the nft program the firewall's rules can't be listed. */
      return;
    }
    String port = Integer.toString(PacketFormat.ROCE_PORT);
    String drop = "";
    boolean closed = false;
    boolean accepts = false;
    for (String line : rules.split("\n")) {
      String words = " " + line.strip().toLowerCase(Locale.ROOT) + " ";
      boolean ofPort = words.contains(port);
      closed |= words.contains(" hook input ") && words.contains("policy drop");
      accepts |= ofPort && words.contains(" accept ");
      if (ofPort && (words.contains(" drop ") || words.contains(" reject "))) {
        drop = line.strip();
      }
    }
    if (!drop.isEmpty() || closed && !accepts) {
      add(
          "firewall",
          fabric,
          drop.isEmpty()
              ? "a chain of hook input drops what no rule accepts, and none names port " + port
              : "a rule says: " + drop,
          "nft list ruleset shows it; let UDP port " + port + " in");
    }
  }

  private void add(String cause, FabricSpec fabric, String evidence, String remedy) {
    findings.add(new Finding(cause, fabric.name(), evidence, remedy));
  }

  private static int setting(String of, String name) {
    try {
      return Integer.parseInt(Files.readString(SETTINGS.resolve(of).resolve(name)).strip());
    } catch (IOException | NumberFormatException unknown) {
      return 0;
    }
  }

  private static JsonNode ip(String... words) {
    List<String> command = new ArrayList<>(List.of("ip", "-json"));
    command.addAll(List.of(words));
    try {
      return Json.mapper().readTree(Shell.run(command, ""));
    } catch (JsonProcessingException garbled) {
      throw new HeddleException(String.join(" ", command) + " printed no JSON", garbled);
    }
  }
}
