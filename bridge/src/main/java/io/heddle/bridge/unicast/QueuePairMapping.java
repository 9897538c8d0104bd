package io.heddle.bridge.unicast;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Mapping of queue pair numbers, for fabrics where only real queue pairs can send.
 *
 * @param queuePairs of the bridge that hosts of the other fabric share
 * @param fixesImmediate whether an immediate that equals the sender's number is replaced by its
 *     mapped number
 * @param ports of the services that clients in the fabric of real queue pairs may request
 */
public record QueuePairMapping(int queuePairs, boolean fixesImmediate, List<Integer> ports) {
  /** Configuration value of a mapping. */
  public static final String WORD = "mapped";

  /** Default number of queue pairs. */
  public static final int QUEUE_PAIRS = 8;

  public static final int MOST_QUEUE_PAIRS = 64;

  /** Maximum ports listened on for the other fabric's services. */
  public static final int MOST_PORTS = 256;

  public QueuePairMapping {
    ports = List.copyOf(ports);
  }

  /** Returns the mapping in configuration syntax. */
  String describe() {
    return String.format(
        Locale.ROOT,
        " queue-pairs=%s fix-immediate=%s ports=%s",
        queuePairs,
        fixesImmediate ? "yes" : "no",
        ports.stream().map(String::valueOf).collect(Collectors.joining(",")));
  }
}
