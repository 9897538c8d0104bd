package io.heddle.sim.control;

import org.jspecify.annotations.Nullable;

/**
 * Numbers of routes under one scheme.
 *
 * @param scheme routes that leaves announce to cards
 * @param arithmetic routes of a card by the draft's arithmetic, all hosts reachable
 * @param inTable routes in the real table of the sample's first card, all hosts reachable
 * @param afterLosses routes in the real table of the sample's first card, after some hosts have
 *     lost a plane
 * @param leastAfterLosses counted routes of the card with the fewest, after some hosts have lost a
 *     plane
 * @param mostAfterLosses counted routes of the card with the most, after some hosts have lost a
 *     plane
 * @param prefixes prefixes that the route daemon of the sample's first card publishes, after some
 *     hosts have lost a plane
 * @param leafRoutes routes of its plane that a leaf has
 * @param leafForwarding routes that a leaf installs
 * @param leafForwardingSuppressed routes that a leaf installs with FIB-Suppress: its own hosts, and
 *     a prefix for each other leaf
 * @param lossUs median time on this machine, in microseconds, from a leaf's message that a host has
 *     lost a plane until no job of the sample's first card would send there; null if that card gets
 *     no such message
 * @param mostLossUs longest time on this machine, in microseconds, from a leaf's message that a
 *     host has lost a plane until no job of the sample's first card would send there; null if that
 *     card gets no such message
 * @param avoidsLostPlanes whether no job of the sample would send to a host over the plane that it
 *     has lost, and each would over the others
 * @param isEqual whether each table of the sample agrees with arithmetic and count
 */
public record SchemeRow(
    String scheme,
    long arithmetic,
    long inTable,
    long afterLosses,
    long leastAfterLosses,
    long mostAfterLosses,
    long prefixes,
    long leafRoutes,
    long leafForwarding,
    long leafForwardingSuppressed,
    @Nullable Double lossUs,
    @Nullable Double mostLossUs,
    boolean avoidsLostPlanes,
    boolean isEqual) {}
