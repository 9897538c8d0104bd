package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.SidrService;

/**
 * Clients in one fabric that have requested the number of a queue pair behind the bridge. Requests
 * are rare, so this allocates. Used by the data thread only.
 */
sealed interface SidrClients permits WireClients, VerbsClients {
  /** Handles an answer from the other fabric. An answer that no request waits for has no effect. */
  void answered(SidrService.Answer answer, long nowNs);

  /** Ends the requests whose deadline has passed. */
  void expire(long nowNs);
}
