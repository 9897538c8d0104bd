package io.heddle.bridge.infiniband;

import io.heddle.platform.Memory;
import io.heddle.verbs.AddressHandleAttributes;
import io.heddle.verbs.Gid;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Path to a host of an InfiniBand subnet, from the subnet manager's path record.
 *
 * @param source GID of the source port
 * @param port GID of the host's port
 * @param lid LID of the host's port
 * @param serviceLevel service level of packets
 * @param staticRate rate limit of sent packets, in the coding of ibv_rate
 * @param hopLimit hop limit in the packets' route header; 0 for no such header
 * @param partitionKey partition key that both ports have
 * @param mtuBytes maximum payload on the path
 */
public record HostPath(
    Gid source,
    Gid port,
    int lid,
    int serviceLevel,
    int staticRate,
    int hopLimit,
    int partitionKey,
    int mtuBytes) {
  private static final int LEAST_MTU_BYTES = 128;

  /*
   * Offsets in struct rdma_cm_id of the fields path_rec and num_paths of its route
   * (rdma/rdma_cma.h).
   */
  private static final int ID_PATHS = 328;
  private static final int ID_PATH_COUNT = 336;

  /* Offsets in struct ibv_sa_path_rec (infiniband/sa.h). */
  private static final int PORT_AT = 0;
  private static final int SOURCE_AT = 16;
  private static final int LID_AT = 32;
  private static final int HOP_LIMIT_AT = 44;
  private static final int PARTITION_KEY_AT = 54;
  private static final int SERVICE_LEVEL_AT = 56;
  private static final int MTU_AT = 58;
  private static final int RATE_AT = 60;

  /**
   * Returns the path of an rdma_cm_id whose route is resolved; null if the subnet manager returned
   * none.
   */
  public static @Nullable HostPath of(long id) {
    long at = Memory.getLong(id + ID_PATHS);
    if (at == 0 || Memory.getInt(id + ID_PATH_COUNT) < 1) {
      return null;
    }
    return new HostPath(
        Gid.of(Memory.toArray(at + SOURCE_AT, Gid.BYTES)),
        Gid.of(Memory.toArray(at + PORT_AT, Gid.BYTES)),
        Memory.ALL.get(Memory.NETWORK_SHORT, at + LID_AT) & 0xffff,
        byteAt(at + SERVICE_LEVEL_AT),
        byteAt(at + RATE_AT),
        byteAt(at + HOP_LIMIT_AT),
        Memory.ALL.get(Memory.NETWORK_SHORT, at + PARTITION_KEY_AT) & 0xffff,
        LEAST_MTU_BYTES << byteAt(at + MTU_AT));
  }

  private static int byteAt(long at) {
    return Memory.ALL.get(ValueLayout.JAVA_BYTE, at) & 0xff;
  }

  /**
   * Returns the address handle attributes of the path. Like the kernel, it adds a route header only
   * if there is a hop limit.
   */
  public AddressHandleAttributes attributes(int trafficClass) {
    return new AddressHandleAttributes(
        source, port, trafficClass, serviceLevel, hopLimit, lid, hopLimit > 0, staticRate);
  }
}
