package io.heddle.bgpstub.daemon;

import io.heddle.bgp.wire.CodePoints;
import io.heddle.bgp.wire.Families;
import io.heddle.bgpstub.rib.RibOptions;
import io.heddle.routes.WeightRules;
import java.nio.file.Path;
import java.util.List;

/**
 * What the daemon is told.
 *
 * @param as our AS
 * @param routerId our BGP identifier; 0 to derive one from this host's addresses
 * @param listenPort where peers may connect; 0 for nowhere
 * @param publish the routes file
 * @param control the socket that {@code heddle bgp show} asks
 * @param publishAfterMs how long to wait for peers that haven't told everything before weights are
 *     published
 * @param announce whether this host's addresses are announced
 * @param fibSuppress whether they carry the FIB-suppress community
 */
public record DaemonConfig(
    long as,
    int routerId,
    int listenPort,
    Path publish,
    Path control,
    long publishAfterMs,
    boolean announce,
    boolean fibSuppress,
    WeightRules weights,
    RibOptions routes,
    CodePoints codePoints,
    List<PeerConfig> peers) {
  /** Of all peers that tell of a plane. */
  Families familiesOf(String planeKey) {
    boolean ipv6 = false;
    boolean ipv4 = false;
    for (PeerConfig each : peers) {
      if (planeKey.equals(each.planeKey())) {
        ipv6 |= each.families().ipv6Unicast();
        ipv4 |= each.families().ipv4Unicast();
      }
    }
    return new Families(ipv6, ipv4, List.of());
  }
}
