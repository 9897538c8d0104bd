package io.heddle.tools.wan;

import java.util.List;
import java.util.Map;

/**
 * Result of a soak with random load and faults.
 *
 * @param seed seed that determines load and faults
 * @param passed whether no flow flapped, no daemon's death lost a packet, and no rule stayed
 *     without a reason
 * @param seconds duration in seconds
 * @param phases number of phases of constant load
 * @param faults number of injections of each fault, by the fault's text
 * @param sentPackets number of packets sent
 * @param lostPackets number of lost packets in phases without a cut path
 * @param lostInCuts number of lost packets in phases with a cut path
 * @param moves number of moves that the controllers decided
 * @param withdrawals number of withdrawals that the controllers decided
 * @param flaps number of flows whose list changed more than once in a period without fault or
 *     change of load
 * @param failures failed conditions, one sentence each
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
