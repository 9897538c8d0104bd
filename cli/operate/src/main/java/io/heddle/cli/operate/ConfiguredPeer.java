package io.heddle.cli.operate;

import io.heddle.bgp.wire.Prefix;
import io.heddle.bgpstub.daemon.ConfigParser;
import io.heddle.platform.HeddleException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A peer in the route daemon's configuration, and the planes that it stands for.
 *
 * @param interfaceName the port towards it; empty where its address tells
 * @param address where it is; null for the interface's default router
 * @param planeKey of its plane; null where colours tell of several
 */
public record ConfiguredPeer(
    String name, String interfaceName, @Nullable InetAddress address, @Nullable String planeKey) {
  /** Where the daemon looks for its configuration unless told otherwise. */
  public static final Path DEFAULT_FILE = ConfigParser.DEFAULT_FILE;

  /**
   * All peers of a configuration.
   *
   * @throws HeddleException that names file, line, key, value and what is allowed
   */
  public static List<ConfiguredPeer> read(Path file) {
    return ConfigParser.read(file).peers().stream()
        .map(peer ->
            new ConfiguredPeer(peer.name(), peer.interfaceName(), peer.address(), peer.planeKey()))
        .toList();
  }

  /** Whether it is in the subnet of this address. */
  public boolean isInSubnetOf(InetAddress own, int prefixLength) {
    return address != null && Prefix.of(own, prefixLength).covers(Prefix.host(address));
  }
}
