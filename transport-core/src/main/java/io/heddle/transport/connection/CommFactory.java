package io.heddle.transport.connection;

import io.heddle.platform.Log;
import io.heddle.stats.PlaneCounters;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.data.ConnectionParts;

/**
 * Factory of one kind of communicator. Called once by the control thread, for an established
 * connection.
 *
 * @param <C> kind of communicator
 */
@FunctionalInterface
public interface CommFactory<C extends Communicator> {
  /**
   * Creates one end of a connection.
   *
   * @param sendClosing action that sends Closing to the peer, and releases the connection later
   * @param onClose action that closes the counters
   */
  C create(
      ConnectionParts parts,
      Runnable sendClosing,
      PlaneCounters[] counters,
      Log log,
      Runnable onClose);
}
