package io.heddle.cli.paths;

import org.jspecify.annotations.Nullable;

/** Sender of probes, and receiver of replies to them. Used by one thread. */
interface Prober extends AutoCloseable {
  /**
   * Reply to a probe.
   *
   * @param port source port of the probe
   * @param hop hop limit of the probe
   * @param router source address of the reply
   * @param ends whether the path ends here: the probe was rejected for another reason than its hop
   *     limit
   */
  record Reply(int port, int hop, String router, boolean ends) {}

  /** Returns the time in nanoseconds, from an arbitrary origin. */
  long nowNs();

  /**
   * Sends one probe.
   *
   * @param port source port
   * @param hop hop limit
   */
  void send(int port, int hop);

  /**
   * Waits for the next reply and returns it; null if none arrives before the given time. May return
   * null earlier.
   */
  @Nullable Reply receive(long untilNs);

  @Override
  void close();
}
