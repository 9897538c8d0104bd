package io.heddle.bgp.session;

import org.jspecify.annotations.Nullable;

/**
 * A session as it is at one moment.
 *
 * @param state one of RFC 4271's six
 * @param remote address and port; empty where it isn't known yet
 * @param negotiated null where the session isn't up
 * @param lastEnd why it, or the last attempt, ended; null where nothing has
 * @param retryInMs until the next attempt; −1 where none is planned
 * @param idleForMs how much longer the peer's connections are turned away, after an error that a
 *     next try may well repeat; −1 where they are taken
 * @param upForMs since it is established; −1 where it isn't
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
