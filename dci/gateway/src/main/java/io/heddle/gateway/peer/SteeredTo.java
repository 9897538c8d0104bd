package io.heddle.gateway.peer;

/**
 * Target of a rule for a queue pair.
 *
 * @param list id of the segment list, which may be dead or unknown to this gateway
 * @param routerId router id of the controller that made the rule
 */
public record SteeredTo(int list, int routerId) {}
