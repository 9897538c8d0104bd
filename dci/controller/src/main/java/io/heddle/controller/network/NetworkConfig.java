package io.heddle.controller.network;

import io.heddle.flowspec.rule.ComponentTypes;
import io.heddle.flowspec.steering.IndirectionEncoding;
import io.heddle.telemetry.tls.TlsFiles;
import java.net.Inet6Address;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part of the configuration that only the running controller needs.
 *
 * @param port for incoming BGP connections; 0 to accept none
 * @param restartSeconds how long gateways keep rules after the session is lost (graceful restart)
 * @param refreshNs interval after which all rules are announced again
 * @param audit null for none
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
   * A telemetry source: a gateway or a router.
   *
   * @param serverName name in its certificate if it differs from the host; null if not
   * @param routerId a gateway's router id, which its rules name; 0 for a router
   */
  public record Target(
      String name, String host, int port, @Nullable String serverName, int routerId) {
    public boolean isGateway() {
      return routerId != 0;
    }
  }

  /**
   * A BGP peer: a gateway, or a route reflector in between.
   *
   * @param local our address of the session; null for the kernel's choice
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
   * A link in one direction.
   *
   * @param target telemetry source that counts the bytes sent on it
   * @param capacity in bits per second
   */
  public record Link(String name, String target, String interfaceName, double capacity) {}

  /** The links on the path of a gateway's segment list. */
  public record ListPath(String gateway, int list, List<String> links) {}

  public List<Target> gateways() {
    return targets.stream().filter(Target::isGateway).toList();
  }
}
