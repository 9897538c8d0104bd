package io.heddle.transport.connection;

import io.heddle.transport.control.ControlChannel;
import io.heddle.transport.control.ControlMessage;

/**
 * Listener of an abandoned channel: discards everything. It doesn't refer to a connection, which
 * would stay in memory.
 */
final class DiscardingListener implements ControlChannel.Listener {
  static final ControlChannel.Listener INSTANCE = new DiscardingListener();

  private DiscardingListener() {}

  @Override
  public void onConnected(ControlChannel channel) {
    throw new IllegalStateException("connected after it was left");
  }

  @Override
  public void onMessage(ControlMessage message) {
    // Discards the message: the peer resends its messages on the channel that it switches to.
  }

  @Override
  public void onClosed(ControlChannel.Ending how, String reason) {
    // The connection no longer depends on this channel.
  }
}
