package io.heddle.cli.wan;

import java.util.List;
import java.util.Map;

/**
 * What random load with faults came to.
 *
 * @param seed that all of it follows from
 * @param holds whether nothing flapped, no daemon's death lost a packet, and no rule outlived its
 *     reason
 * @param seconds it took
 * @param phases of constant load each
 * @param faults how often each fault was, by what happens
 * @param sentPackets to queue pairs
 * @param lostPackets of them, in phases in which no way was cut
 * @param lostInCuts of them, in phases in which one was
 * @param moves that the controllers decided
 * @param withdrawals that they decided
 * @param flaps flows that went back where they had come from while the load was constant and no
 *     fault was near
 * @param failures what didn't hold, a sentence each
 */
public record WanSoakReport(
    long seed,
    boolean holds,
    double seconds,
    int phases,
    Map<String, Integer> faults,
    long sentPackets,
    long lostPackets,
    long lostInCuts,
    int moves,
    int withdrawals,
    int flaps,
    List<String> failures) {}
