package io.heddle.bridge.unicast;

import io.heddle.bridge.fabric.SidrService;

/**
 * Clients in one fabric that have requested the number of a queue pair behind the bridge. Rare: it
 * allocates. Used by the data thread only.
 */
sealed interface SidrClients permits WireClients, VerbsClients {
  /** Sets the proxy addresses. */
  void use(ProxyAddresses now);

  /** Handles an answer from the other fabric. It has no effect if no request waits for it. */
  void answered(SidrService.Answer answer, long nowNs);

  /** Ends requests whose deadline has passed. */
  void expire(long nowNs);
}
