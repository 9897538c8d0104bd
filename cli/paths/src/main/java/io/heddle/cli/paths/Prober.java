package io.heddle.cli.paths;

import org.jspecify.annotations.Nullable;

/** Sends probes into the network, and hears what comes of them. One thread. */
interface Prober extends AutoCloseable {
  /**
   * Who answered a probe.
   *
   * @param port the probe's source port
   * @param hop its hop limit
   * @param router the address that the answer came from
   * @param ends whether the probe got no further for another reason than its hop limit
   */
  record Reply(int port, int hop, String router, boolean ends) {}

  /** The time, ns; only differences count. */
  long nowNs();

  /** Sends one probe. */
  void send(int port, int hop);

  /** The next answer, or null where none comes until then; may return before. */
  @Nullable Reply receive(long untilNs);

  @Override
  void close();
}
