package io.heddle.verbs;

/**
 * What an address handle is made of.
 *
 * @param localGid the port's own address that datagrams leave from
 * @param remoteGid the peer's address, or a multicast group's
 * @param trafficClass IPv6 traffic class, 0 to 255
 * @param serviceLevel 0 to 15
 * @param hopLimit 0 to 255
 * @param lid of the peer or group on InfiniBand; 0 on Ethernet
 * @param global whether packets have a global route header, which has the two addresses; Ethernet
 *     and groups need it
 * @param staticRate at which packets leave at most, as ibv_rate codes it; 0 for the port's
 */
public record AddressHandleAttributes(
    Gid localGid,
    Gid remoteGid,
    int trafficClass,
    int serviceLevel,
    int hopLimit,
    int lid,
    boolean global,
    int staticRate) {
  private static final int MOST_HOPS = 255;

  /** On Ethernet. */
  public AddressHandleAttributes(
      Gid localGid, Gid remoteGid, int trafficClass, int serviceLevel, int hopLimit) {
    this(localGid, remoteGid, trafficClass, serviceLevel, hopLimit, 0, true, 0);
  }

  /** The same as far as routers let it. */
  public AddressHandleAttributes(Gid localGid, Gid remoteGid, int trafficClass, int serviceLevel) {
    this(localGid, remoteGid, trafficClass, serviceLevel, MOST_HOPS);
  }
}
