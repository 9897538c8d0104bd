package io.heddle.bgp.session;

/**
 * What happened with a peer since the session object was made.
 *
 * @param updates UPDATE messages that came
 * @param announced routes in them
 * @param withdrawn routes withdrawn in them, by word or by RFC 7606
 * @param attributeFaults malformed attributes that were survived
 * @param ignored announced prefixes that can be nobody's route
 * @param looped routes that had our own AS in their path
 * @param turnedAway connections of the peer that came at the wrong time and were closed
 * @param skippedFamilies runs of routes of families that weren't asked for
 * @param established times that the session came up
 * @param failedAttempts attempts that didn't
 */
public record SessionCounters(
    long updates,
    long announced,
    long withdrawn,
    long attributeFaults,
    long ignored,
    long looped,
    long turnedAway,
    long skippedFamilies,
    long established,
    long failedAttempts) {}
