package io.heddle.bgpstub.daemon;

import io.heddle.routes.PublishedPlane;
import java.util.List;

/**
 * Snapshot of the daemon.
 *
 * @param publish path of the routes file
 * @param live whether the routes file is published yet
 * @param incomplete whether a full disk prevents routes from being published
 * @param entries number of prefixes in the routes file
 * @param generation number that grows with each change of the routes file
 * @param unknownPeers number of connections from addresses that belong to no configured peer
 */
public record DaemonView(
    long as,
    String routerId,
    String publish,
    boolean live,
    boolean incomplete,
    int entries,
    long generation,
    long unknownPeers,
    List<PublishedPlane> planes,
    List<PeerView> peers) {}
