package io.heddle.verbs;

/**
 * What an address handle is made of.
 *
 * @param localGid the port's own address that datagrams leave from
 * @param remoteGid the peer's address, or a multicast group's
 * @param trafficClass IPv6 traffic class, 0 to 255
 * @param serviceLevel 0 to 7
 */
public record AddressHandleAttributes(
    Gid localGid, Gid remoteGid, int trafficClass, int serviceLevel) {}
