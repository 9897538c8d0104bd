package io.heddle.bridge.unicast;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * How the numbers of queue pairs are mapped where only real queue pairs can send.
 *
 * @param queuePairs of the bridge that hosts of the other fabric share
 * @param fixesImmediate whether an immediate that is the sender's number becomes its mapped number
 * @param ports of the services that the fabric of real queue pairs may ask for
 */
public record NumberMapping(int queuePairs, boolean fixesImmediate, List<Integer> ports) {
  /** What may be said of the numbers of queue pairs. */
  public static final String WORD = "mapped";

  /** Unless said. */
  public static final int QUEUE_PAIRS = 8;

  public static final int MOST_QUEUE_PAIRS = 64;

  /** What listens at once for the other fabric's services. */
  public static final int MOST_PORTS = 256;

  public NumberMapping {
    ports = List.copyOf(ports);
  }

  /** As in the configuration. */
  String describe() {
    return String.format(
        Locale.ROOT,
        " queue-pairs=%s fix-immediate=%s ports=%s",
        queuePairs,
        fixesImmediate ? "yes" : "no",
        ports.stream().map(String::valueOf).collect(Collectors.joining(",")));
  }
}
