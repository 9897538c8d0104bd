package io.heddle.gateway.peer;

/**
 * A rule's target for a queue pair.
 *
 * @param list segment list, which may be dead or unknown here
 * @param routerId of the controller that made the rule
 */
public record SteeredTo(int list, int routerId) {}
