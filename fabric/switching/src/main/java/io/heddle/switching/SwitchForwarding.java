package io.heddle.switching;

import java.util.List;

/**
 * Forwarding of one switch, by a BPF program or by nftables rules. Used by one thread at a time.
 */
sealed interface SwitchForwarding extends AutoCloseable permits BpfForwarding, NftForwarding {
  /** Changes the switching mode. */
  void configure(SwitchingMode mode, SprayScope scope);

  /** Adds a port whose incoming packets are switched. */
  void addPort(String port);

  /**
   * Sets which links of a group may be selected.
   *
   * @param alive one flag per member
   */
  void setAlive(int group, boolean[] alive);

  /** Returns packets and bytes of each link of each group, in the order of groups and members. */
  List<LinkCount> counts();

  /** Removes the program or the rules from the switch. */
  void remove();

  /** Releases this process's resources. The switch keeps forwarding. */
  @Override
  void close();
}
