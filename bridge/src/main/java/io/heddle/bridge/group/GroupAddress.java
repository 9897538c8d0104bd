package io.heddle.bridge.group;

import io.heddle.verbs.Gid;

/**
 * Name of a group in fabrics of each kind.
 *
 * @param address of the group, IPv4 mapped; sufficient for RoCEv2
 * @param port of RDMA CM, a part of MGIDs in the CLLM format; 0 for none
 * @param mgid its format in an InfiniBand fabric
 */
public record GroupAddress(Gid address, int port, MgidFormat mgid) {
  /** Returns a group without port, in the format that RDMA CM gives it. */
  public static GroupAddress of(Gid address) {
    return new GroupAddress(address, 0, MgidFormat.RDMA);
  }

  @Override
  public String toString() {
    return address + (mgid == MgidFormat.RDMA ? "" : " as " + mgid.word());
  }
}
