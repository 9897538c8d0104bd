package io.heddle.bridge.verbs;

import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.verbs.AddressHandle;
import io.heddle.verbs.AddressHandleAttributes;
import io.heddle.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * Path from a libibverbs port to one group or host. Its address handle contains the index of the
 * source address in the port's GID table. So the handle is replaced when the source address gets
 * another index, or the group or host another LID.
 */
final class VerbsSendPath implements SendPath {
  /** MTU of a path without a payload limit of its own. */
  static final int ANY_MTU = Integer.MAX_VALUE;

  private final @Nullable GroupAddress group;
  private final Gid host;
  /* Written under the lock of the paths, read by the data thread. */
  private volatile int mtuBytes;
  private volatile @Nullable AddressHandle handle;
  /* Guarded by the lock of the paths, as is the next field. */
  private AddressHandleAttributes attributes;
  private int gidIndex;

  /**
   * @param mtuBytes maximum payload, or {@link #ANY_MTU}
   * @param group the group; null for a path to a host, by which each packet is sent from its source
   *     queue pair
   * @param host address of the host or group
   */
  VerbsSendPath(
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

  /** Returns the handle; null while the path can't be used. */
  @Nullable AddressHandle handle() {
    return handle;
  }

  int gidIndex() {
    return gidIndex;
  }

  /** Replaces the handle. The previous one may be freed once its packets have left. */
  void setHandle(AddressHandleAttributes by, AddressHandle other, int index, int payloadBytes) {
    attributes = by;
    gidIndex = index;
    mtuBytes = payloadBytes;
    handle = other;
  }

  /** Stops the path: no packet is sent by it from now on. */
  void pause() {
    handle = null;
  }
}
