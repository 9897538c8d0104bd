package io.heddle.verbs;

/**
 * Attributes of the peer for INIT → RTR.
 *
 * @param mtu path MTU, the smaller of both ends'
 * @param remoteGid address of the peer
 * @param remoteQueuePairNumber number of the peer's queue pair, 24 bits
 * @param receivePsn peer's first packet sequence number, 24 bits
 * @param peerParameters the peer's {@link QueuePair#endpointParameters}; empty for a standard peer
 * @param receiverNotReadyTimerCode RNR NAK timer code, 0 to 31 (12 is 0.64 ms)
 * @param trafficClass IPv6 traffic class, 0 to 255
 * @param serviceLevel service level, 0 to 15
 */
public record ReadyToReceiveAttributes(
    PathMtu mtu,
    Gid remoteGid,
    int remoteQueuePairNumber,
    int receivePsn,
    byte[] peerParameters,
    int receiverNotReadyTimerCode,
    int trafficClass,
    int serviceLevel) {}
