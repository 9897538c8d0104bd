package io.heddle.transport.onesided;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.transport.connection.Connector;
import io.heddle.transport.connection.CounterSource;
import io.heddle.transport.device.NetDevice;

/**
 * Listener of a rank before its one-sided group is created. Peers connect only at their first
 * operation, so the group then takes over the listening.
 */
public final class OneSidedListener implements AutoCloseable {
  private final NetDevice device;
  private final PeerConnector connector;
  private final Log log;
  private boolean isConnected;

  /** Starts listening and writes the 128-byte handle that NCCL carries to the other ranks. */
  public OneSidedListener(
      NetDevice device, Connector connector, long handleAddress, CounterSource source, Log log) {
    this.device = device;
    this.connector = new PeerConnector(device, connector, handleAddress, source, log);
    this.log = log;
  }

  /**
   * Creates the group with this rank. Connects to no peer yet.
   *
   * @param handles connection handles of all ranks, by rank
   * @throws HeddleException if this listener has created a group already, or memory is lacking
   */
  public synchronized OneSidedGroup connect(byte[][] handles, int rank) {
    if (isConnected) {
      throw new HeddleException(
          "a one-sided listener serves one group, and this one has a group already");
    }
    OneSidedGroup group = new OneSidedGroup(device, connector, handles, rank, log);
    isConnected = true;
    return group;
  }

  /** Stops listening, unless a group has taken over. */
  @Override
  public synchronized void close() {
    if (!isConnected) {
      isConnected = true;
      connector.close();
    }
  }
}
