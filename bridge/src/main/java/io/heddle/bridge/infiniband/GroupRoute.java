package io.heddle.bridge.infiniband;

import io.heddle.verbs.Gid;

/**
 * Route of a group's packets, as returned by the join.
 *
 * @param mgid GID of the group in packets; on RoCEv2 the group's address
 * @param lid LID of the group on InfiniBand; 0 on Ethernet
 * @param serviceLevel service level of the group's packets
 * @param staticRate rate limit of the group's members, in the coding of ibv_rate; 0 for the port's
 *     rate
 */
public record GroupRoute(Gid mgid, int lid, int serviceLevel, int staticRate) {
  public static GroupRoute ofEthernet(Gid group) {
    return new GroupRoute(group, 0, 0, 0);
  }
}
