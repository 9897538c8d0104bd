package io.heddle.sim.control;

import org.jspecify.annotations.Nullable;

/**
 * Numbers of routes under one scheme. Losses are hosts that have lost a plane; the first sampled
 * card is the first card with a real table.
 *
 * @param scheme scheme by which leaves announce routes to cards
 * @param arithmetic number of routes of a card by the draft's formula while all hosts are reachable
 * @param inTable number of routes in the first sampled card's table while all hosts are reachable
 * @param afterLosses number of routes in the first sampled card's table after some hosts have lost
 *     a plane
 * @param leastAfterLosses number of routes that the card with the fewest routes has after some
 *     hosts have lost a plane, counted without a table
 * @param mostAfterLosses number of routes that the card with the most routes has after some hosts
 *     have lost a plane, counted without a table
 * @param prefixes number of prefixes that the first sampled card's route daemon publishes after
 *     some hosts have lost a plane
 * @param leafRoutes number of routes that a leaf has for its plane
 * @param leafForwarding number of routes that a leaf installs for forwarding
 * @param leafForwardingSuppressed number of routes that a leaf installs with FIB-Suppress: one for
 *     each of its own hosts, and one for each other leaf
 * @param lossUs median time in µs, on this machine, from a leaf's message that a host has lost a
 *     plane until no job of the first sampled card would send to that host over that plane; null if
 *     that card gets no such message
 * @param mostLossUs longest such time in µs; null if the first sampled card gets no such message
 * @param avoidsLostPlanes whether no job of a sampled card would send to a host over the plane that
 *     the host has lost, and each job would send to it over the other planes
 * @param isEqual whether each sampled card's table has as many routes as the draft's formula and
 *     the count without a table give
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
