package io.heddle.bridge.verbs;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.infiniband.SubnetHosts;
import io.heddle.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * Port of the bridge in a fabric where only real queue pairs send and receive. The numbers of the
 * port's queue pairs represent hosts of the other fabric.
 */
public interface QueuePairPort extends FabricPort {
  /** Returns the numbers of the port's queue pairs. */
  int[] numbers();

  /**
   * Returns the path to a host that {@link #sendPathBetween} has created. Doesn't wait.
   *
   * @return null if no call has created it yet
   */
  @Nullable SendPath readySendPath(Gid source, Gid destination);

  /**
   * Returns the map from hosts to ports on InfiniBand, whose packets contain no addresses of hosts;
   * null on Ethernet.
   */
  default @Nullable SubnetHosts hosts() {
    return null;
  }
}
