package io.heddle.bgpstub.daemon;

import io.heddle.routes.PublishedPlane;
import java.util.List;

/**
 * Snapshot of the daemon.
 *
 * @param publish the routes file
 * @param live whether the file is published yet
 * @param incomplete whether a full disk keeps routes out of it
 * @param entries prefixes in it
 * @param unknownPeers connections from addresses of no peer
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
