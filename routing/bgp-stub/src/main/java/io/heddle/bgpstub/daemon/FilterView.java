package io.heddle.bgpstub.daemon;

import org.jspecify.annotations.Nullable;

/**
 * What the filter that a peer keeps for us (RFC 5292) says of a destination.
 *
 * @param peer its name
 * @param plane the peer's plane; null where colours tell it
 * @param lines of the filter
 * @param lets whether routes for the destination come through
 */
public record FilterView(String peer, @Nullable String plane, int lines, boolean lets) {}
