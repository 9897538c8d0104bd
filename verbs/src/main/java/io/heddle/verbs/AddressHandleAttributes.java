package io.heddle.verbs;

/**
 * What an address handle is made of.
 *
 * @param localGid the port's own address that datagrams leave from
 * @param remoteGid the peer's address, or a multicast group's
 * @param trafficClass IPv6 traffic class, 0 to 255
 * @param serviceLevel 0 to 7
 * @param hopLimit 1 to 255
 */
public record AddressHandleAttributes(
    Gid localGid, Gid remoteGid, int trafficClass, int serviceLevel, int hopLimit) {
  private static final int MOST_HOPS = 255;

  /** As far as routers let it. */
  public AddressHandleAttributes(Gid localGid, Gid remoteGid, int trafficClass, int serviceLevel) {
    this(localGid, remoteGid, trafficClass, serviceLevel, MOST_HOPS);
  }
}
