package io.heddle.tools.wan;

import java.util.List;
import java.util.Map;

/**
 * Result of random load with faults.
 *
 * @param seed that all of it follows from
 * @param passed whether nothing flapped, no daemon's death lost a packet, and no rule outlived its
 *     reason
 * @param seconds duration
 * @param phases of constant load
 * @param faults number of each fault, by its text
 * @param sentPackets to queue pairs
 * @param lostPackets of them, in phases without a cut path
 * @param lostInCuts of them, in phases with a cut path
 * @param moves decided by the controllers
 * @param withdrawals decided by them
 * @param flaps flows that moved back while the load was constant and no fault was near
 * @param failures failed conditions, a sentence each
 */
public record WanSoakReport(
    long seed,
    boolean passed,
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
