package io.heddle.tools.paths;

import io.heddle.fabric.model.EcmpGroup;
import io.heddle.fabric.model.HashModel;
import io.heddle.fabric.model.JenkinsHash;
import io.heddle.fabric.model.LinuxHash;
import io.heddle.fabric.model.RoceFlow;
import io.heddle.fabric.model.SwitchHash;
import io.heddle.tools.lab.HashLab;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Forwarding configuration of a lab's switch that selects links by a known hash model. */
final class HashSwitching {
  private HashSwitching() {}

  /**
   * Returns the configuration with which a lab's switch selects links by this hash.
   *
   * @param links number of the switch's links
   */
  static HashLab.Switching of(SwitchHash hash, int links) {
    return switch (hash) {
      case LinuxHash kernel -> new HashLab.Switching(kernel.settings(), "");
      case JenkinsHash jenkins ->
          new HashLab.Switching(
              List.of(),
              "meta mark set jhash ip6 saddr . ip6 daddr . udp sport mod %s seed 0x%x offset 1"
                  .formatted(links, jenkins.seed()));
      case HashModel silicon -> new HashLab.Switching(List.of(), table(silicon, links));
    };
  }

  /*
   * Returns an nftables table that looks up the link of every source port in a map. Neither
   * nftables nor the kernel has the hashes of switch silicon.
   */
  private static String table(HashModel hash, int links) {
    EcmpGroup group = new EcmpGroup(links);
    StringBuilder map = new StringBuilder("meta mark set udp sport map { ");
    for (int port = 1; port < 0x10000; port++) {
      map.append(port == 1 ? "" : ", ").append(port).append(" : ");
      map.append(hash.member(flow(port), group) + 1);
    }
    return map.append(" }").toString();
  }

  /** Returns the RoCE flow from the lab's host to its peer with this source port. */
  static RoceFlow flow(int port) {
    try {
      return new RoceFlow(
          InetAddress.getByName(HashLab.HOST), InetAddress.getByName(HashLab.PEER), port, 0);
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
