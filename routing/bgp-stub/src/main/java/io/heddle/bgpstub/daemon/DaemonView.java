package io.heddle.bgpstub.daemon;

import io.heddle.routes.PublishedPlane;
import java.util.List;

/**
 * The daemon at one moment.
 *
 * @param publish the routes file
 * @param live whether the file is published yet
 * @param incomplete whether a full disk keeps routes from it
 * @param entries prefixes in it
 * @param strangers connections from addresses that are no peer's
 */
public record DaemonView(
    long as,
    String routerId,
    String publish,
    boolean live,
    boolean incomplete,
    int entries,
    long generation,
    long strangers,
    List<PublishedPlane> planes,
    List<PeerView> peers) {}
