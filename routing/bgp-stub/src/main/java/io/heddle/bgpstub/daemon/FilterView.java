package io.heddle.bgpstub.daemon;

import org.jspecify.annotations.Nullable;

/**
 * View of the filter that we sent to a peer (RFC 5292), and whether it permits a destination.
 *
 * @param peer name of the peer
 * @param plane the peer's plane; null if colours determine it
 * @param lines number of lines of the filter
 * @param permits whether the filter permits routes for the destination
 */
public record FilterView(String peer, @Nullable String plane, int lines, boolean permits) {}
