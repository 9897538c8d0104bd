package io.heddle.bgpstub.daemon;

import io.heddle.bgp.wire.CodePoints;
import io.heddle.bgp.wire.Families;
import io.heddle.bgpstub.rib.RibOptions;
import io.heddle.daemon.ConfigText;
import io.heddle.routes.WeightRules;
import java.nio.file.Path;
import java.util.List;

/**
 * Configuration of the daemon.
 *
 * @param text text that the configuration was parsed from
 * @param as number of our AS
 * @param routerId our BGP identifier; 0 to derive one from this host's addresses
 * @param listenPort port on which peers may connect; 0 for none
 * @param publish path of the routes file
 * @param control path of the control socket for {@code heddle bgp show}
 * @param publishAfterMs longest time in milliseconds to wait for the peers' complete routes before
 *     weights are published
 * @param announce whether this host's addresses are announced
 * @param fibSuppress whether the announced addresses carry the FIB-suppress community
 */
public record DaemonConfig(
    ConfigText text,
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
  /** Returns the address families of all peers that are configured for this plane. */
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
