package io.heddle.bridge.fabric;

import io.heddle.bridge.group.GroupAddress;
import io.heddle.verbs.AddressHandle;
import io.heddle.verbs.AddressHandleAttributes;
import org.jspecify.annotations.Nullable;

/**
 * How packets leave a port of libibverbs for one group or host. Its handle names the own address by
 * its place in the port's table, so another takes its place when the address moves, or the group
 * has another LID.
 */
final class VerbsWay implements Way {
  private final @Nullable GroupAddress group;
  /* Written by the control thread, read by the data thread. */
  private volatile AddressHandle handle;
  /* These two are the control thread's. */
  private AddressHandleAttributes attributes;
  private int gidIndex;

  /**
   * @param group where they go; null for a host, whose packets leave by the queue pair that they
   *     have as their source
   */
  VerbsWay(
      AddressHandleAttributes attributes,
      AddressHandle handle,
      int gidIndex,
      @Nullable GroupAddress group) {
    this.attributes = attributes;
    this.group = group;
    this.handle = handle;
    this.gidIndex = gidIndex;
  }

  AddressHandleAttributes attributes() {
    return attributes;
  }

  boolean toHost() {
    return group == null;
  }

  @Nullable GroupAddress group() {
    return group;
  }

  AddressHandle handle() {
    return handle;
  }

  int gidIndex() {
    return gidIndex;
  }

  /** Packets leave by this from now on. The one before may be freed once they have left. */
  void use(AddressHandleAttributes by, AddressHandle other, int index) {
    attributes = by;
    handle = other;
    gidIndex = index;
  }
}
