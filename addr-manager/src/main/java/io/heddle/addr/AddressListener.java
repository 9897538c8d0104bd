package io.heddle.addr;

/** Takes the events of an {@link AddressWatcher}, on the thread that polls it. */
@FunctionalInterface
public interface AddressListener {
  void onAddressEvent(AddressEvent event);
}
