package io.heddle.transport.connection;

import io.heddle.transport.control.ControlMessage;
import java.net.InetSocketAddress;
import java.util.List;

/** The doors as one connection has them, under its ticket. Control thread. */
final class OwnDoors {
  private final Doors doors;
  private final byte[] ticket;
  private List<InetSocketAddress> told = List.of();

  OwnDoors(Doors doors) {
    this.doors = doors;
    ticket = doors.newTicket();
  }

  /** What the peer is told of them now. */
  ControlMessage.Doors message() {
    told = doors.addresses();
    return new ControlMessage.Doors(ticket, told);
  }

  /** Whether they aren't where the peer was told last. */
  boolean haveMoved() {
    return !told.equals(doors.addresses());
  }

  void expect(Doors.Behind link) {
    doors.expect(ticket, link);
  }

  void forget() {
    doors.forget(ticket);
  }
}
