package io.heddle.switching;

import java.util.List;

/** What makes one switch choose: a BPF program or nftables' rules. One thread at a time. */
sealed interface SwitchForwarding extends AutoCloseable permits BpfForwarding, NftForwarding {
  /** Chooses so from now on. */
  void configure(SwitchingMode mode, SprayScope scope);

  /** Switches what comes in by this port, too. */
  void addPort(String port);

  /**
   * Says which links of a group may be chosen.
   *
   * @param alive a flag a member
   */
  void setAlive(int group, boolean[] alive);

  /** What has been sent by each link of each group, in their order. */
  List<LinkCount> counts();

  /** Takes it away from the switch. */
  void remove();

  /** Gives back what this process has of it; the switch goes on. */
  @Override
  void close();
}
