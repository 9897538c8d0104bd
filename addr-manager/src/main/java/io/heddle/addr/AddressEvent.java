package io.heddle.addr;

/** What the kernel tells of interfaces and addresses. */
public sealed interface AddressEvent {
  /** An interface is new, or something about it changed. The speed is not filled. */
  record LinkChanged(NetworkLink link) implements AddressEvent {}

  /** An interface is gone. */
  record LinkRemoved(NetworkLink link) implements AddressEvent {}

  /** An address is new, or its flags changed. */
  record AddressChanged(AssignedAddress address) implements AddressEvent {}

  /** An address is gone. */
  record AddressRemoved(AssignedAddress address) implements AddressEvent {}

  /** The kernel had more to tell than the socket could hold: take a new {@link HostAddresses}. */
  record EventsLost() implements AddressEvent {}
}
