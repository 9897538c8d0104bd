package io.heddle.addr;

/** Change of an interface or address, as the kernel reports it. */
public sealed interface AddressEvent {
  /** New or changed interface. */
  record LinkChanged(NetworkLink link) implements AddressEvent {}

  /** Removed interface. */
  record LinkRemoved(NetworkLink link) implements AddressEvent {}

  /** New address, or changed flags of an address. */
  record AddressChanged(AssignedAddress address) implements AddressEvent {}

  /** Removed address. */
  record AddressRemoved(AssignedAddress address) implements AddressEvent {}

  /**
   * Overflow of the socket's buffer: events were lost, so a new {@link HostAddresses} is needed.
   */
  record EventsLost() implements AddressEvent {}
}
