package io.heddle.switching;

import java.util.List;

/** Forwarding of one switch: a BPF program or nftables' rules. Used by one thread at a time. */
sealed interface SwitchForwarding extends AutoCloseable permits BpfForwarding, NftForwarding {
  /** Changes the switching mode. */
  void configure(SwitchingMode mode, SprayScope scope);

  /** Adds an ingress port. */
  void addPort(String port);

  /**
   * Sets which links of a group may be chosen.
   *
   * @param alive a flag per member
   */
  void setAlive(int group, boolean[] alive);

  /** Returns the counts of each link of each group, in order. */
  List<LinkCount> counts();

  /** Removes it from the switch. */
  void remove();

  /** Releases this process's resources; the switch keeps forwarding. */
  @Override
  void close();
}
