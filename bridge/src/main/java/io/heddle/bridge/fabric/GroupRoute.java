package io.heddle.bridge.fabric;

import io.heddle.verbs.Gid;

/**
 * Route of a group's packets, as returned by the join.
 *
 * @param mgid its GID in packets; on RoCEv2 the group's address
 * @param lid its LID on InfiniBand; 0 on Ethernet
 * @param serviceLevel of its packets
 * @param staticRate limit of its members, in the coding of ibv_rate; 0 for the port's
 */
record GroupRoute(Gid mgid, int lid, int serviceLevel, int staticRate) {
  static GroupRoute ofEthernet(Gid group) {
    return new GroupRoute(group, 0, 0, 0);
  }
}
