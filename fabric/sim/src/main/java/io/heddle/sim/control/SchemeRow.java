package io.heddle.sim.control;

import org.jspecify.annotations.Nullable;

/**
 * Numbers of routes under one scheme.
 *
 * @param scheme routes that leaves announce to cards
 * @param arithmetic routes of a card by the draft's arithmetic, all hosts reachable
 * @param inTable the same in the real tables of the sample
 * @param afterLosses in the first of these, after some hosts have lost a plane
 * @param leastAfterLosses least of all cards then, counted
 * @param mostAfterLosses most of all cards then, counted
 * @param prefixes that the first one's route daemon publishes then
 * @param leafRoutes that a leaf has of its plane
 * @param leafForwarding that a leaf installs
 * @param leafForwardingSuppressed that a leaf installs with FIB-Suppress: its own hosts, and a
 *     prefix for each other leaf
 * @param lossUs microseconds from a leaf's message that a host has lost a plane until no job would
 *     send there, in the first of the real tables on this machine: median; null if it is told of no
 *     loss
 * @param mostLossUs the longest of these
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
