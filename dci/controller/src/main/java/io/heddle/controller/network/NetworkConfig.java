package io.heddle.controller.network;

import io.heddle.flowspec.rule.ComponentTypes;
import io.heddle.flowspec.steering.IndirectionEncoding;
import io.heddle.telemetry.tls.TlsFiles;
import java.net.Inet6Address;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part of a controller's configuration that its loop needs.
 *
 * @param port on which BGP peers may connect; 0 where nobody may
 * @param restartSeconds for how long gateways are asked to keep rules when we are gone
 * @param refreshNs after which all rules are announced again
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
   * Whom to subscribe to.
   *
   * @param serverName what its certificate names instead of the host; null for none
   * @param routerId of a gateway, which its rules name; 0 for a router
   */
  public record Target(
      String name, String host, int port, @Nullable String serverName, int routerId) {
    public boolean isGateway() {
      return routerId != 0;
    }
  }

  /**
   * A BGP peer: a gateway, or a reflector between.
   *
   * @param local our address towards it; null for the kernel's choice
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
   * @param target who counts what it sends on it
   * @param capacity bits a second
   */
  public record Link(String name, String target, String interfaceName, double capacity) {}

  /** Over which links a gateway's list leads. */
  public record ListPath(String gateway, int list, List<String> links) {}

  public List<Target> gateways() {
    return targets.stream().filter(Target::isGateway).toList();
  }
}
