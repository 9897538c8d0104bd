package io.heddle.bgpstub.daemon;

import io.heddle.bgp.session.PeerSession;
import io.heddle.bgpstub.rib.AdjRibIn;
import io.heddle.bgpstub.rib.PeerRoutes;

/** Configured peer with its session and routes. Used by the BGP speaker's thread only. */
record DaemonPeer(PeerConfig config, PeerSession session, PeerRoutes routes) {
  /**
   * Returns this peer with the settings that it has in another configuration; unchanged if that
   * configuration lacks the peer.
   */
  DaemonPeer of(DaemonConfig next) {
    for (PeerConfig peer : next.peers()) {
      if (peer.name().equals(config.name())) {
        return new DaemonPeer(peer, session, routes);
      }
    }
    return this;
  }

  PeerView view() {
    AdjRibIn received = routes.routes();
    String key = config.planeKey();
    return new PeerView(
        session.status(),
        config.interfaceName(),
        config.as(),
        key == null ? "by colour" : key,
        received.routes(),
        received.attributeSets(),
        received.isComplete(),
        received.withoutPlane(),
        routes.filterLines());
  }
}
