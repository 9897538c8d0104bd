package io.heddle.verbs;

/**
 * Attributes of an address handle (ibv_ah_attr).
 *
 * @param localGid the port's own address, from which datagrams are sent
 * @param remoteGid address of the peer or of a multicast group
 * @param trafficClass IPv6 traffic class, 0 to 255
 * @param serviceLevel service level, 0 to 15
 * @param hopLimit hop limit, 0 to 255
 * @param lid LID of the peer or group on InfiniBand; 0 on Ethernet
 * @param global whether packets carry a global route header with the two addresses; required on
 *     Ethernet and for multicast groups
 * @param staticRate highest packet rate (ibv_rate); 0 for the port's own rate
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
  private static final int MAX_HOPS = 255;

  /** Creates the attributes for Ethernet. */
  public AddressHandleAttributes(
      Gid localGid, Gid remoteGid, int trafficClass, int serviceLevel, int hopLimit) {
    this(localGid, remoteGid, trafficClass, serviceLevel, hopLimit, 0, true, 0);
  }

  /** Creates the attributes for Ethernet with the largest hop limit. */
  public AddressHandleAttributes(Gid localGid, Gid remoteGid, int trafficClass, int serviceLevel) {
    this(localGid, remoteGid, trafficClass, serviceLevel, MAX_HOPS);
  }
}
