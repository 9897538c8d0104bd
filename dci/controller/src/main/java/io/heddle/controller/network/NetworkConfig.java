package io.heddle.controller.network;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.steering.IndirectionEncoding;
import io.heddle.bgp.session.PeerOptions;
import io.heddle.telemetry.tls.TlsFiles;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Part of the controller's configuration that a dry run doesn't need.
 *
 * @param routerId router id of the controller
 * @param as number of the controller's autonomous system
 * @param port port for incoming BGP connections; 0 to accept none
 * @param refreshNs interval at which all rules are announced again
 * @param control path of the control socket
 * @param audit path of the audit log; null for none
 * @param targets telemetry sources
 * @param peers BGP sessions with gateways, or with route reflectors in between
 */
public record NetworkConfig(
    int routerId,
    long as,
    int port,
    long refreshNs,
    ComponentTypes types,
    IndirectionEncoding encoding,
    Path control,
    @Nullable Path audit,
    TlsFiles tls,
    List<Target> targets,
    List<PeerOptions> peers,
    List<Link> links,
    List<ListPath> paths) {

  /**
   * Telemetry source: a gateway or a router.
   *
   * @param serverName name in the source's certificate; null if it equals the host
   * @param routerId router id of a gateway, which the rules for it contain; 0 for a router
   */
  public record Target(
      String name, String host, int port, @Nullable String serverName, int routerId) {
    public boolean isGateway() {
      return routerId != 0;
    }
  }

  /**
   * Link in one direction.
   *
   * @param target name of the telemetry source that counts the bytes sent on the link
   * @param interfaceName name of the source's interface to the link
   * @param capacity capacity in bits per second
   */
  public record Link(String name, String target, String interfaceName, double capacity) {}

  /** Names of the links on the path of a gateway's segment list. */
  public record ListPath(String gateway, int list, List<String> links) {}

  public List<Target> gateways() {
    return targets.stream().filter(Target::isGateway).toList();
  }
}
