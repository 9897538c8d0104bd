package io.heddle.addr;

/** Receiver of the events of an {@link AddressWatcher}, on the thread that polls it. */
@FunctionalInterface
public interface AddressListener {
  void onAddressEvent(AddressEvent event);
}
