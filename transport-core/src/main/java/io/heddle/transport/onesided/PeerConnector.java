package io.heddle.transport.onesided;

import io.heddle.platform.Log;
import io.heddle.spray.SprayPolicy;
import io.heddle.transport.connection.CommListener;
import io.heddle.transport.connection.Connector;
import io.heddle.transport.connection.CounterSource;
import io.heddle.transport.connection.Handshake;
import io.heddle.transport.data.RequestLines;
import io.heddle.transport.device.NetDevice;
import org.jspecify.annotations.Nullable;

/** Source of a group's connections with its peers. */
final class PeerConnector implements AutoCloseable {
  private final NetDevice device;
  private final Connector connector;
  private final CommListener<OneSidedTarget> listener;
  private final CounterSource source;
  private final Log log;

  /** Starts listening and writes the handle. */
  PeerConnector(
      NetDevice device, Connector connector, long handleAddress, CounterSource source, Log log) {
    this.device = device;
    this.connector = connector;
    this.source = source;
    this.log = log;
    listener = connector.listenOneSided(device, handleAddress, OneSidedTarget::new, source, log);
  }

  /**
   * Connects to the peer with this handle. Never blocks.
   *
   * @param answers request lines in which operations are completed
   */
  Handshake<OneSidedInitiator> connect(int trafficClass, long handleAddress, RequestLines answers) {
    SprayPolicy policy = connector.newPolicy();
    return connector.connectOneSided(
        device,
        trafficClass,
        handleAddress,
        (parts, sendClosing, counters, to, onClose) ->
            new OneSidedInitiator(parts, sendClosing, policy, answers, counters, to, onClose),
        source,
        log);
  }

  /** Returns the next peer that has connected; null while there is none. */
  @Nullable OneSidedTarget accept() {
    return connector.accept(listener, true);
  }

  /** Stops listening. */
  @Override
  public void close() {
    listener.close();
  }
}
