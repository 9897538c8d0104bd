package io.heddle.sim.patterns;

/**
 * Connections that all send the same number of messages of one length. A message may wait for a
 * message of another connection: message m of a connection begins once message m − lag of the
 * connection's predecessor has arrived completely.
 *
 * @param source sending GPU of each connection
 * @param destination receiving GPU of each connection
 * @param predecessor connection for which each connection waits; −1 for none
 * @param lag 0 if a message waits for the predecessor's message of the same number, 1 if for the
 *     one before that
 * @param messages number of messages of each connection
 * @param messageBytes length of each message
 */
public record Traffic(
    int[] source, int[] destination, int[] predecessor, int lag, int messages, long messageBytes) {
  /** Value of {@link #predecessor} for a connection that waits for no other. */
  public static final int NONE = -1;

  /** Returns the number of connections. */
  public int connections() {
    return source.length;
  }

  /** Returns whether any connection waits for another. */
  public boolean isChained() {
    for (int each : predecessor) {
      if (each != NONE) {
        return true;
      }
    }
    return false;
  }

  /** Returns, for each connection, the connection that waits for it; {@link #NONE} if none does. */
  public int[] successors() {
    int[] successors = new int[predecessor.length];
    java.util.Arrays.fill(successors, NONE);
    for (int each = 0; each < predecessor.length; each++) {
      if (predecessor[each] != NONE) {
        successors[predecessor[each]] = each;
      }
    }
    return successors;
  }
}
