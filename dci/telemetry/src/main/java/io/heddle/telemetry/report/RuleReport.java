package io.heddle.telemetry.report;

import org.jspecify.annotations.Nullable;

/**
 * A rule that an operator or a controller has set.
 *
 * @param source null for any
 * @param list id of the list that it sends the queue pair to
 * @param active whether packets follow it
 * @param reason why not; null if they do
 * @param setBy its owner
 * @param used whether packets of the queue pair are seen
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
  /** Prefix of {@link #setBy} for a controller; its router id follows. */
  public static final String BY_CONTROLLER = "controller ";
}
