package io.heddle.telemetry.report;

import org.jspecify.annotations.Nullable;

/**
 * A rule that somebody wants.
 *
 * @param source null for any
 * @param list id of the list where it sends the queue pair
 * @param active whether packets obey it
 * @param reason why not; null where they do
 * @param setBy who wanted it
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
  /** What {@link #setBy} begins with where a controller did it; its router id follows. */
  public static final String BY_CONTROLLER = "controller ";
}
