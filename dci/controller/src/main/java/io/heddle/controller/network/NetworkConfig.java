package io.heddle.controller.network;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.steering.IndirectionEncoding;
import io.heddle.telemetry.tls.TlsFiles;
import java.net.Inet6Address;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Part of the controller's configuration that a dry run doesn't need.
 *
 * @param routerId router id of the controller
 * @param as number of the controller's autonomous system
 * @param port port for incoming BGP connections; 0 to accept none
 * @param restartSeconds time for which gateways keep rules after the session is lost (graceful
 *     restart)
 * @param refreshNs interval at which all rules are announced again
 * @param control path of the control socket
 * @param audit path of the audit log; null for none
 * @param targets telemetry sources
 */
public record NetworkConfig(
    int routerId,
    long as,
    int port,
    int restartSeconds,
    long refreshNs,
    ComponentTypes types,
    IndirectionEncoding encoding,
    Path control,
    @Nullable Path audit,
    TlsFiles tls,
    List<Target> targets,
    List<Peer> peers,
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
   * BGP peer: a gateway, or a route reflector in between.
   *
   * @param local address of the controller in the session; null for the kernel's choice
   * @param md5Key key of TCP-MD5 (RFC 2385); empty for none
   * @param gtsmHops maximum distance of the peer in hops (RFC 5082); 0 for no check
   * @param passive whether only the peer opens the connection
   */
  public record Peer(
      String name,
      Inet6Address address,
      int port,
      long as,
      @Nullable Inet6Address local,
      String md5Key,
      int gtsmHops,
      boolean passive) {}

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
