package io.heddle.transport;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.transport.connection.Connector;
import io.heddle.transport.connection.CounterSource;
import io.heddle.transport.connection.PendingOneSidedConnect;
import io.heddle.transport.connection.SignalListener;
import io.heddle.transport.data.OneSidedTarget;
import io.heddle.transport.data.RequestLines;
import io.heddle.transport.device.NetDevice;
import io.heddle.transport.onesided.OneSidedGroup;
import io.heddle.transport.onesided.PeerConnector;
import org.jspecify.annotations.Nullable;

/**
 * Listener of a rank before its one-sided group is created. Peers connect only at their first
 * operation, so the group then takes over the listening.
 */
public final class OneSidedListener implements AutoCloseable {
  private final NetDevice device;
  private final Connector connector;
  private final SignalListener listener;
  private final CounterSource source;
  private final Log log;
  private boolean isConnected;

  OneSidedListener(
      NetDevice device,
      Connector connector,
      SignalListener listener,
      CounterSource source,
      Log log) {
    this.device = device;
    this.connector = connector;
    this.listener = listener;
    this.source = source;
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
    OneSidedGroup group = new OneSidedGroup(device, new Calls(), handles, rank, log);
    isConnected = true;
    return group;
  }

  private final class Calls implements PeerConnector {
    @Override
    public PendingOneSidedConnect connect(
        int trafficClass, long handleAddress, RequestLines answers) {
      return connector.connectOneSided(device, trafficClass, handleAddress, answers, source, log);
    }

    @Override
    public @Nullable OneSidedTarget accept() {
      return connector.acceptOneSided(listener);
    }

    @Override
    public void close() {
      listener.close();
    }
  }

  /** Stops listening, unless a group has taken over. */
  @Override
  public synchronized void close() {
    if (!isConnected) {
      isConnected = true;
      listener.close();
    }
  }
}
