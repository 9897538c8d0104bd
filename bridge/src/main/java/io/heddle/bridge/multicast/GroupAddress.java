package io.heddle.bridge.multicast;

import io.heddle.verbs.Gid;

/**
 * Identity of a multicast group in every kind of fabric.
 *
 * @param address IP address of the group, IPv4 in mapped form; the only field that RoCEv2 fabrics
 *     use
 * @param port port number of RDMA CM, which MGIDs in the CLLM format contain; 0 for none
 * @param mgid format of the group's MGID in an InfiniBand fabric
 */
public record GroupAddress(Gid address, int port, MgidFormat mgid) {
  /** Returns a group without a port and with RDMA CM's MGID format. */
  public static GroupAddress of(Gid address) {
    return new GroupAddress(address, 0, MgidFormat.RDMA);
  }

  @Override
  public String toString() {
    return address + (mgid == MgidFormat.RDMA ? "" : " as " + mgid.word());
  }
}
