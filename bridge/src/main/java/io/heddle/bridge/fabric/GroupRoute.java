package io.heddle.bridge.fabric;

import io.heddle.verbs.Gid;

/**
 * Where a group's packets go, as whoever joined it was told.
 *
 * @param mgid its GID in packets; on RoCEv2 the group's address
 * @param lid its LID on InfiniBand; 0 on Ethernet
 * @param serviceLevel of its packets
 * @param staticRate at which its members can take packets, as ibv_rate codes it; 0 for the port's
 */
record GroupRoute(Gid mgid, int lid, int serviceLevel, int staticRate) {
  static GroupRoute ofEthernet(Gid group) {
    return new GroupRoute(group, 0, 0, 0);
  }
}
