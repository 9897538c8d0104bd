package io.heddle.transport;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.transport.connection.Connector;
import io.heddle.transport.connection.CounterSource;
import io.heddle.transport.connection.OneSidedCall;
import io.heddle.transport.connection.SignalListener;
import io.heddle.transport.data.PeerSignals;
import io.heddle.transport.data.RequestLines;
import io.heddle.transport.device.NetDevice;
import io.heddle.transport.onesided.OneSidedGroup;
import io.heddle.transport.onesided.PeerConnector;
import org.jspecify.annotations.Nullable;

/**
 * A rank that can be called, and becomes one of a group. Peers call when they first write, so the
 * group takes the ear over.
 */
public final class OneSidedListener implements AutoCloseable {
  private final NetDevice device;
  private final Connector connector;
  private final SignalListener ear;
  private final CounterSource source;
  private final Log log;
  private boolean taken;

  OneSidedListener(
      NetDevice device, Connector connector, SignalListener ear, CounterSource source, Log log) {
    this.device = device;
    this.connector = connector;
    this.ear = ear;
    this.source = source;
    this.log = log;
  }

  /**
   * Makes the group, of which this is a rank. No peer is called yet.
   *
   * @param handles of all ranks
   * @throws HeddleException where it has made one already, or there is no memory
   */
  public synchronized OneSidedGroup connect(byte[][] handles, int rank) {
    if (taken) {
      throw new HeddleException("a one-sided listener serves one group, and has one already");
    }
    OneSidedGroup group = new OneSidedGroup(device, new Calls(), handles, rank, log);
    taken = true;
    return group;
  }

  private final class Calls implements PeerConnector {
    @Override
    public OneSidedCall call(int trafficClass, long handleAddress, RequestLines answers) {
      return connector.callOneSided(device, trafficClass, handleAddress, answers, source, log);
    }

    @Override
    public @Nullable PeerSignals accept() {
      return connector.acceptOneSided(ear);
    }

    @Override
    public void close() {
      ear.close();
    }
  }

  /** Nobody is heard any more, unless a group goes on. */
  @Override
  public synchronized void close() {
    if (!taken) {
      taken = true;
      ear.close();
    }
  }
}
