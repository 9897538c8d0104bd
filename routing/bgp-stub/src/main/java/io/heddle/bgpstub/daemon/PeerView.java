package io.heddle.bgpstub.daemon;

import io.heddle.bgp.session.SessionStatus;

/**
 * A peer as {@code heddle bgp show} has it.
 *
 * @param plane key of the plane, or "by colour"
 * @param withoutPlane announcements that had no colour where colours tell the plane
 * @param filterLines lines of the filter that it has of us
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
