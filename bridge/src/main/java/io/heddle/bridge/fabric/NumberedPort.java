package io.heddle.bridge.fabric;

import io.heddle.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * A bridge's end in a fabric where only real queue pairs send and receive: each has its number, by
 * which hosts of the other fabric are known there.
 */
public interface NumberedPort extends FabricPort {
  /** The numbers of its queue pairs. */
  int[] numbers();

  /**
   * How packets are sent to a host, as {@link #wayBetween} has made it. Without waiting.
   *
   * @return null where nobody has asked for it yet
   */
  @Nullable Way readyWay(Gid source, Gid destination);

  /** At which ports its hosts are, where packets don't name them; null where they do. */
  default @Nullable SubnetHosts hosts() {
    return null;
  }
}
