package io.heddle.bgp.session;

/**
 * Counters of a peer since its {@link PeerSession} was created.
 *
 * @param updates received UPDATE messages
 * @param announced routes announced in UPDATE messages
 * @param withdrawn routes withdrawn in UPDATE messages, explicitly or by RFC 7606
 * @param attributeFaults malformed attributes that didn't end the session
 * @param ignored announced prefixes that can't be routed
 * @param looped routes with our AS in their path, or with our router id as their originator
 * @param rejected connections of the peer that were rejected
 * @param skippedFamilies route lists in UPDATE messages that were skipped because their family
 *     wasn't negotiated
 * @param established times that the session came up
 * @param failedAttempts attempts that ended before the session came up
 */
public record SessionCounters(
    long updates,
    long announced,
    long withdrawn,
    long attributeFaults,
    long ignored,
    long looped,
    long rejected,
    long skippedFamilies,
    long established,
    long failedAttempts) {}
