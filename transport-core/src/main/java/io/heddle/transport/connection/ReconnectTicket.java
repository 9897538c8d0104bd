package io.heddle.transport.connection;

import io.heddle.transport.control.ControlMessage;
import java.net.InetSocketAddress;
import java.util.List;

/** The doors as one connection has them, under its ticket. Control thread. */
final class ReconnectTicket {
  private final ReconnectListeners doors;
  private final byte[] ticket;
  private List<InetSocketAddress> told = List.of();

  ReconnectTicket(ReconnectListeners doors) {
    this.doors = doors;
    ticket = doors.newTicket();
  }

  /** What the peer is told of them now. */
  ControlMessage.ReconnectAddresses message() {
    told = doors.addresses();
    return new ControlMessage.ReconnectAddresses(ticket, told);
  }

  /** Whether they aren't where the peer was told last. */
  boolean haveMoved() {
    return !told.equals(doors.addresses());
  }

  void expect(ReconnectListeners.Session link) {
    doors.expect(ticket, link);
  }

  void forget() {
    doors.forget(ticket);
  }
}
