package io.heddle.bridge.fabric;

import io.heddle.verbs.AddressHandle;
import io.heddle.verbs.AddressHandleAttributes;

/**
 * How packets leave a port of libibverbs for one group or host. Its handle names the own address by
 * its place in the port's table, so another takes its place when the address moves.
 */
final class VerbsWay implements Way {
  private final AddressHandleAttributes attributes;
  private final boolean toHost;
  /* Written by the control thread, read by the data thread. */
  private volatile AddressHandle handle;
  /* The control thread's. */
  private int gidIndex;

  /**
   * @param toHost whether packets leave by the queue pair that they have as their source
   */
  VerbsWay(AddressHandleAttributes attributes, AddressHandle handle, int gidIndex, boolean toHost) {
    this.attributes = attributes;
    this.toHost = toHost;
    this.handle = handle;
    this.gidIndex = gidIndex;
  }

  AddressHandleAttributes attributes() {
    return attributes;
  }

  boolean toHost() {
    return toHost;
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
