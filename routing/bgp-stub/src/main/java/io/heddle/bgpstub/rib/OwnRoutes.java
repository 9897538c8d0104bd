package io.heddle.bgpstub.rib;

import io.heddle.bgp.wire.AsPath;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.NextHop;
import io.heddle.bgp.wire.Nlri;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Host routes that we announce to one peer. Computes the UPDATE messages for each change of these
 * routes.
 */
final class OwnRoutes {
  /**
   * Attributes common to all announced routes.
   *
   * @param fibSuppress whether leaves may omit the routes from their forwarding tables
   */
  record CommonAttributes(long localAs, int routerId, boolean fibSuppress) {}

  private CommonAttributes common;
  private Set<Prefix> announced = Set.of();
  private long announcedMbps;

  OwnRoutes(CommonAttributes common) {
    this.common = common;
  }

  /**
   * Sets whether routes carry the FIB-suppress community. The next {@link #change} announces all
   * routes again.
   */
  void setFibSuppress(boolean suppress) {
    common = new CommonAttributes(common.localAs, common.routerId, suppress);
    announcedMbps = -1;
  }

  /** Forgets the announced routes, because the peer has none of them. */
  void forget() {
    announced = Set.of();
  }

  /**
   * Returns the messages after which the peer has exactly the routes of these addresses; empty if
   * no change is needed.
   */
  List<UpdateMessage> change(Set<InetAddress> addresses, long rateMbps) {
    Set<Prefix> wanted = new TreeSet<>();
    addresses.forEach(address -> wanted.add(Prefix.host(address)));
    List<UpdateMessage> messages = new ArrayList<>();
    List<Prefix> gone = announced.stream().filter(prefix -> !wanted.contains(prefix)).toList();
    if (!gone.isEmpty()) {
      messages.add(UpdateMessage.withdraw(Nlri.of(gone)));
    }
    boolean sameRate = rateMbps == announcedMbps;
    for (Prefix prefix : wanted) {
      if (!sameRate || !announced.contains(prefix)) {
        messages.add(
            UpdateMessage.announce(
                Nlri.of(prefix), attributes(rateMbps), NextHop.of(prefix.address())));
      }
    }
    announced = wanted;
    announcedMbps = rateMbps;
    return messages;
  }

  private PathAttributes attributes(long rateMbps) {
    List<ExtendedCommunity> communities = new ArrayList<>();
    int gbps = (int) Math.min(rateMbps / 1000, 0xffff);
    if (gbps > 0) {
      communities.add(new ExtendedCommunity.PathBandwidth(true, common.routerId(), gbps));
    }
    if (common.fibSuppress()) {
      int as =
          common.localAs() > 0xffff
              ? ExtendedCommunity.AS_TRANS
              : Math.toIntExact(common.localAs());
      communities.add(new ExtendedCommunity.FibSuppress(as, common.routerId()));
    }
    List<PathAttribute> all = new ArrayList<>();
    all.add(PathAttribute.Origin.IGP);
    all.add(new PathAttribute.Path(AsPath.of(common.localAs())));
    if (!communities.isEmpty()) {
      all.add(new PathAttribute.ExtendedCommunities(communities));
    }
    return new PathAttributes(all);
  }
}
