package io.heddle.cli.paths;

import org.jspecify.annotations.Nullable;

/** Sender of probes, and receiver of replies to them. One thread. */
interface Prober extends AutoCloseable {
  /**
   * Reply to a probe.
   *
   * @param port source port of the probe
   * @param hop hop limit of the probe
   * @param router source address of the reply
   * @param ends whether the probe stopped for another reason than its hop limit
   */
  record Reply(int port, int hop, String router, boolean ends) {}

  /** Returns the time, ns; only differences are meaningful. */
  long nowNs();

  /** Sends one probe. */
  void send(int port, int hop);

  /** Returns the next reply, or null if none arrives until then; may return earlier. */
  @Nullable Reply receive(long untilNs);

  @Override
  void close();
}
