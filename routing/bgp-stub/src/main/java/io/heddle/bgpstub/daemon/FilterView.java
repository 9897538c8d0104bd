package io.heddle.bgpstub.daemon;

import org.jspecify.annotations.Nullable;

/**
 * Verdict on a destination by the filter that we sent to a peer (RFC 5292).
 *
 * @param peer its name
 * @param plane the peer's plane; null if colours determine it
 * @param lines of the filter
 * @param permits whether routes for the destination pass
 */
public record FilterView(String peer, @Nullable String plane, int lines, boolean permits) {}
