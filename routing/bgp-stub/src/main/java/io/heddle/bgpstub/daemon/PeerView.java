package io.heddle.bgpstub.daemon;

import io.heddle.bgp.session.SessionStatus;

/**
 * Snapshot of a peer for {@code heddle bgp show}.
 *
 * @param plane key of the plane, or "by colour"
 * @param withoutPlane number of announced routes without a colour, if colours determine the plane
 * @param filterLines number of lines of the filter that we sent to the peer
 */
public record PeerView(
    SessionStatus status,
    String interfaceName,
    long configuredAs,
    String plane,
    int routes,
    int attributeSets,
    boolean complete,
    long withoutPlane,
    int filterLines) {}
