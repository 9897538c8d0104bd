package io.heddle.bridge.group;

import io.heddle.verbs.Gid;

/**
 * How a group is named in fabrics of each kind.
 *
 * @param address of the group, IPv4 mapped; all that RoCEv2 needs
 * @param port of RDMA-CM's, which stands in MGIDs of the format CLLM; 0 for none
 * @param mgid its format in an InfiniBand fabric
 */
public record GroupAddress(Gid address, int port, MgidFormat mgid) {
  /** A group without port, in the format that RDMA CM gives it. */
  public static GroupAddress of(Gid address) {
    return new GroupAddress(address, 0, MgidFormat.RDMA);
  }

  @Override
  public String toString() {
    return address + (mgid == MgidFormat.RDMA ? "" : " as " + mgid.word());
  }
}
