package io.heddle.bridge.fabric;

import io.heddle.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * The bridge's port in a fabric where only real queue pairs send and receive. Hosts of the other
 * fabric are known there by the numbers of these queue pairs.
 */
public interface QueuePairPort extends FabricPort {
  /** Returns the numbers of its queue pairs. */
  int[] numbers();

  /**
   * Returns the path to a host that {@link #sendPathBetween} has created. Doesn't wait.
   *
   * @return null if no call has created it yet
   */
  @Nullable SendPath readySendPath(Gid source, Gid destination);

  /** Returns the ports of its hosts, where packets don't name hosts; null if they do. */
  default @Nullable SubnetHosts hosts() {
    return null;
  }
}
