package io.heddle.transport.connection;

import io.heddle.transport.control.ControlMessage;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * Ticket of one connection (the secret that a reconnecting peer presents), and the reconnect
 * addresses that were last sent with it. Control thread.
 */
final class ReconnectTicket {
  private final ReconnectListeners listeners;
  private final byte[] ticket;
  private List<InetSocketAddress> sentAddresses = List.of();

  ReconnectTicket(ReconnectListeners listeners) {
    this.listeners = listeners;
    ticket = listeners.newTicket();
  }

  /** Returns the message with the present addresses, and records them as sent. */
  ControlMessage.ReconnectAddresses newMessage() {
    sentAddresses = listeners.addresses();
    return new ControlMessage.ReconnectAddresses(ticket, sentAddresses);
  }

  /** Returns whether the addresses differ from those sent last. */
  boolean haveAddressesChanged() {
    return !sentAddresses.equals(listeners.addresses());
  }

  void expect(ReconnectListeners.Session link) {
    listeners.register(ticket, link);
  }

  void forget() {
    listeners.forget(ticket);
  }
}
