package io.heddle.telemetry.report;

import org.jspecify.annotations.Nullable;

/**
 * Report of a steering rule that an operator or a controller has set.
 *
 * @param source address of the sender; null for any
 * @param list id of the list to which the rule steers the queue pair
 * @param active whether the rule steers packets
 * @param reason reason why the rule isn't active; null if it is
 * @param setBy owner of the rule
 * @param used whether the gateway sees packets to the queue pair
 */
public record RuleReport(
    String destination,
    int queuePair,
    @Nullable String source,
    int list,
    boolean active,
    @Nullable String reason,
    String setBy,
    boolean used) {
  /** Prefix of {@link #setBy} if a controller owns the rule; the controller's router id follows. */
  public static final String BY_CONTROLLER = "controller ";
}
