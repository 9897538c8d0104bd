package io.heddle.bridge.fabric;

import io.heddle.verbs.AddressHandle;
import io.heddle.verbs.AddressHandleAttributes;

/**
 * How packets leave a port of libibverbs for one group. Its handle names the own address by its
 * place in the port's table, so another takes its place when the address moves.
 */
final class VerbsWay implements Way {
  private final AddressHandleAttributes attributes;
  /* Written by the control thread, read by the data thread. */
  private volatile AddressHandle handle;
  /* The control thread's. */
  private int gidIndex;

  VerbsWay(AddressHandleAttributes attributes, AddressHandle handle, int gidIndex) {
    this.attributes = attributes;
    this.handle = handle;
    this.gidIndex = gidIndex;
  }

  AddressHandleAttributes attributes() {
    return attributes;
  }

  AddressHandle handle() {
    return handle;
  }

  int gidIndex() {
    return gidIndex;
  }

  /** Packets leave by this from now on. The one before may be freed once they have left. */
  void use(AddressHandle other, int index) {
    handle = other;
    gidIndex = index;
  }
}
