package io.heddle.sim.patterns;

/**
 * Connections that all send the same number of messages of one length. A message may wait for one
 * of another connection: message m of a connection begins once message m − lag of its predecessor
 * has arrived completely.
 *
 * @param source GPU that sends, by connection
 * @param destination GPU that receives, by connection
 * @param predecessor connection that each waits for; −1 for none
 * @param lag 0 for the same message, 1 for the one before
 * @param messages of each connection
 * @param messageBytes of each message
 */
public record Traffic(
    int[] source, int[] destination, int[] predecessor, int lag, int messages, long messageBytes) {
  /** Value of {@link #predecessor} for a connection that waits for none. */
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

  /** Returns the connection that waits for each; {@link #NONE} if none does. */
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
