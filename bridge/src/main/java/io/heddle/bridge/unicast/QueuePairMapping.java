package io.heddle.bridge.unicast;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Settings of the mapping of queue pair numbers, for fabrics where only real queue pairs can send.
 *
 * @param queuePairs number of the bridge's queue pairs, which represent the remote hosts' queue
 *     pairs
 * @param fixesImmediate whether immediate data that equal the sender's queue pair number are
 *     replaced by the mapped number
 * @param ports ports of the services that clients in a fabric of real queue pairs may request
 */
public record QueuePairMapping(int queuePairs, boolean fixesImmediate, List<Integer> ports) {
  /** Value of mode in the configuration, for a mapping. */
  public static final String WORD = "mapped";

  /** Default number of queue pairs. */
  public static final int QUEUE_PAIRS = 8;

  public static final int MOST_QUEUE_PAIRS = 64;

  /** Maximum number of ports of services. */
  public static final int MOST_PORTS = 256;

  public QueuePairMapping {
    ports = List.copyOf(ports);
  }

  /** Returns the mapping as {@code key=value} pairs. */
  String describe() {
    return String.format(
        Locale.ROOT,
        " queue-pairs=%s fix-immediate=%s ports=%s",
        queuePairs,
        fixesImmediate ? "yes" : "no",
        ports.stream().map(String::valueOf).collect(Collectors.joining(",")));
  }
}
