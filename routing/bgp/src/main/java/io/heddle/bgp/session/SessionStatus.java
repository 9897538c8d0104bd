package io.heddle.bgp.session;

import org.jspecify.annotations.Nullable;

/**
 * Snapshot of a session.
 *
 * @param state state by RFC 4271
 * @param remote address and port of the peer; empty if unknown
 * @param negotiated result of the OPEN exchange; null if the session isn't up
 * @param lastEnd end of the last session or attempt; null for none
 * @param retryInMs time to the next attempt; −1 if none is planned
 * @param idleForMs time for which the peer's connections are still rejected, after an error that
 *     may repeat; −1 if they are accepted
 * @param upForMs time since the session came up; −1 if it isn't up
 */
public record SessionStatus(
    String name,
    SessionState state,
    String remote,
    @Nullable Negotiated negotiated,
    @Nullable SessionEnd lastEnd,
    long retryInMs,
    long idleForMs,
    long upForMs,
    SessionCounters counters) {}
