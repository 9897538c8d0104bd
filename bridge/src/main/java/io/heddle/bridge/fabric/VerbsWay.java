package io.heddle.bridge.fabric;

import io.heddle.bridge.group.GroupAddress;
import io.heddle.verbs.AddressHandle;
import io.heddle.verbs.AddressHandleAttributes;
import io.heddle.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * How packets leave a port of libibverbs for one group or host. Its handle names the own address by
 * its place in the port's table, so another takes its place when the address moves, or the group or
 * host has another LID.
 */
final class VerbsWay implements Way {
  /** Of a way that bounds no payload by itself. */
  static final int ANY_MTU = Integer.MAX_VALUE;

  private final @Nullable GroupAddress group;
  private final Gid host;
  /* Written under the ways' lock, read by the data thread. */
  private volatile int mtuBytes;
  private volatile @Nullable AddressHandle handle;
  /* These two are under the ways' lock. */
  private AddressHandleAttributes attributes;
  private int gidIndex;

  /**
   * @param mtuBytes that a payload may have, or {@link #ANY_MTU}
   * @param group where they go; null for a host, whose packets leave by the queue pair that they
   *     have as their source
   * @param host its address, or the group's
   */
  VerbsWay(
      AddressHandleAttributes attributes,
      AddressHandle handle,
      int gidIndex,
      int mtuBytes,
      @Nullable GroupAddress group,
      Gid host) {
    this.attributes = attributes;
    this.group = group;
    this.host = host;
    this.mtuBytes = mtuBytes;
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

  Gid host() {
    return host;
  }

  int mtuBytes() {
    return mtuBytes;
  }

  /** Null while the way can't be used. */
  @Nullable AddressHandle handle() {
    return handle;
  }

  int gidIndex() {
    return gidIndex;
  }

  /** Packets leave by this from now on. The one before may be freed once they have left. */
  void use(AddressHandleAttributes by, AddressHandle other, int index, int payloadBytes) {
    attributes = by;
    gidIndex = index;
    mtuBytes = payloadBytes;
    handle = other;
  }

  /** None leaves from now on. */
  void pause() {
    handle = null;
  }
}
