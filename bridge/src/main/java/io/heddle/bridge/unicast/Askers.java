package io.heddle.bridge.unicast;

import io.heddle.bridge.fabric.NumberService;

/**
 * The hosts of one fabric that have asked for the number of a queue pair behind the bridge. Rare:
 * it allocates. The data thread's.
 */
sealed interface Askers permits WireAskers, DeviceAskers {
  /** From now on addresses stand for these hosts. */
  void use(StandIns now);

  /** The other fabric has answered. Of no effect where nobody waits for it. */
  void answered(NumberService.Answer answer, long nowNs);

  /** Ends what has waited for long enough. */
  void expire(long nowNs);
}
