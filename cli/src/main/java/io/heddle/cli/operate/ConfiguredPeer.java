package io.heddle.cli.operate;

import io.heddle.bgp.wire.Prefix;
import io.heddle.bgpstub.daemon.ConfigParser;
import io.heddle.platform.HeddleException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Peer in the route daemon's configuration.
 *
 * @param interfaceName interface towards the peer; empty if the peer's address determines it
 * @param address address of the peer; null for the interface's default router
 * @param planeKey key of the peer's plane; null if colours of routes define the planes
 */
public record ConfiguredPeer(
    String name, String interfaceName, @Nullable InetAddress address, @Nullable String planeKey) {
  /** Default path of the daemon's configuration. */
  public static final Path DEFAULT_FILE = ConfigParser.DEFAULT_FILE;

  /**
   * Returns all peers of a configuration.
   *
   * @throws HeddleException if the configuration is wrong, with file, line, key, value and allowed
   *     values
   */
  public static List<ConfiguredPeer> read(Path file) {
    return ConfigParser.read(file).peers().stream()
        .map(peer ->
            new ConfiguredPeer(peer.name(), peer.interfaceName(), peer.address(), peer.planeKey()))
        .toList();
  }

  /** Returns whether the peer is in the subnet of this address. */
  public boolean isInSubnetOf(InetAddress own, int prefixLength) {
    return address != null && Prefix.of(own, prefixLength).covers(Prefix.host(address));
  }
}
