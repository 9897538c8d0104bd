package io.heddle.cli.doctor;

import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.addr.Plane;
import io.heddle.addr.RejectedAddress;
import io.heddle.cli.operate.ConfiguredPeer;
import io.heddle.platform.HeddleException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Check of this host's planes against the route daemon's configuration, whether the daemon runs or
 * not. The running daemon must have published a configured peer's plane. If no daemon runs, or if
 * colours determine the planes, the peer's port must exist and have a plane.
 */
final class ConfiguredPlanes {
  static final Cause FEWER =
      new Cause(
          "planes-fewer-than-configured",
          "the route daemon's configuration has a plane that no port of this host carries, or that"
              + " the running daemon hasn't read yet");
  static final Cause WRONG =
      new Cause("daemon-config-wrong", "the route daemon's configuration is missing or malformed");

  private final Host host;
  private final List<Finding> findings;

  ConfiguredPlanes(Host host, List<Finding> findings) {
    this.host = host;
    this.findings = findings;
  }

  /**
   * Compares the configuration with this host.
   *
   * @param published planes that the running daemon has published; null if none runs
   */
  void compare(@Nullable Set<String> published) {
    Path file = host.places().config();
    if (file == null) {
      return;
    }
    if (Files.exists(file) && !Files.isReadable(file)) {
      findings.add(
          new Finding.Unknown(
              file + " can't be read, so its planes are unknown; run as its owner or root"));
      return;
    }
    try {
      compare(file, ConfiguredPeer.read(file), published);
    } catch (HeddleException refused) {
      findings.add(
          new Finding.Warning(
              WRONG,
              String.valueOf(refused.getMessage()),
              "correct it (heddle bgp check --config "
                  + file
                  + "), or name another file with --config"));
    }
  }

  private void compare(Path file, List<ConfiguredPeer> peers, @Nullable Set<String> published) {
    List<String> planes = peers.stream().map(ConfiguredPlanes::nameOf).toList();
    int before = findings.size();
    for (ConfiguredPeer peer : peers) {
      String key = peer.planeKey();
      if (key != null && published != null && !published.contains(key)) {
        findings.add(
            new Finding.Warning(
                FEWER,
                "%s has %s, but the running daemon has only %s"
                    .formatted(file, nameOf(peer), published),
                "reload the daemon: systemctl reload heddle-bgp"));
      } else if (key == null || published == null) {
        /* Without a published key to compare, the peer's port must have a plane. */
        addPlanesOfPort(file, peer);
      }
    }
    if (findings.size() == before) {
      findings.add(new Finding.Ok(file + " has planes of this host: " + planes));
    }
  }

  private void addPlanesOfPort(Path file, ConfiguredPeer peer) {
    NetworkLink port = portOf(peer);
    if (port != null && planes().stream().anyMatch(plane -> isOn(plane, port))) {
      return;
    }
    findings.add(
        new Finding.Warning(
            FEWER,
            "%s has %s, which this host lacks: %s"
                .formatted(file, nameOf(peer), port == null ? noPort(peer) : nothingOn(port)),
            port == null
                ? "correct interface or address of that peer, or check why its port is missing"
                : "check that port (ports, addresses): its leaf must advertise the plane's prefix,"
                    + " or assign an address of that prefix"));
  }

  private List<Plane> planes() {
    return host.planes().planes();
  }

  private static boolean isOn(Plane plane, NetworkLink port) {
    return plane.link().index() == port.index();
  }

  private static String nameOf(ConfiguredPeer peer) {
    String key = peer.planeKey();
    return key == null ? "planes by colour of peer " + peer.name() : key;
  }

  private @Nullable NetworkLink portOf(ConfiguredPeer peer) {
    HostAddresses all = host.addresses();
    for (NetworkLink link : all.links()) {
      if (link.name().equals(peer.interfaceName())) {
        return link;
      }
    }
    if (!peer.interfaceName().isEmpty()) {
      return null;
    }
    for (AssignedAddress each : all.addresses()) {
      if (peer.isInSubnetOf(each.address(), each.prefixLength())) {
        return all.linkOf(each);
      }
    }
    return null;
  }

  private static String noPort(ConfiguredPeer peer) {
    return peer.interfaceName().isEmpty()
        ? "no address here is in the subnet of peer " + peer.name()
        : "there is no interface " + peer.interfaceName();
  }

  private String nothingOn(NetworkLink port) {
    if (!port.isUp()) {
      return port.name() + (port.administrativelyUp() ? " has no carrier" : " is set down");
    }
    List<String> unused = new ArrayList<>();
    for (RejectedAddress rejected : host.planes().rejected()) {
      if (rejected.link().index() == port.index()
          && !rejected.address().address().isLinkLocalAddress()) {
        unused.add(rejected.address() + " (" + rejected.reason() + ")");
      }
    }
    return unused.isEmpty()
        ? port.name() + " has no address that can be a plane's"
        : port.name() + " has " + String.join(", ", unused);
  }
}
