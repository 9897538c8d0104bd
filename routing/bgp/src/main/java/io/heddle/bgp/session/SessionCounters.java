package io.heddle.bgp.session;

/**
 * Counters of a peer since its session object was created.
 *
 * @param updates received UPDATE messages
 * @param announced routes in them
 * @param withdrawn routes withdrawn in them, explicitly or by RFC 7606
 * @param attributeFaults malformed attributes that didn't end the session
 * @param ignored announced prefixes that can't be routed
 * @param looped routes with our own AS in their path
 * @param rejected connections of the peer that were rejected
 * @param skippedFamilies route lists of families that weren't negotiated
 * @param established times that the session came up
 * @param failedAttempts failed attempts
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
