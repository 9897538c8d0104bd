package io.heddle.verbs;

/**
 * What a queue pair has to know of its peer to receive.
 *
 * @param mtu path MTU, the smaller of both sides'
 * @param remoteGid the peer's address
 * @param remoteQueuePairNumber 24 bits
 * @param receivePsn first packet sequence number that the peer sends, 24 bits
 * @param peerParameters what the peer's {@link QueuePair#endpointParameters} said; empty for a
 *     standard peer
 * @param receiverNotReadyTimerCode RNR NAK timer code, 0 to 31 (12 is 0.64 ms)
 * @param trafficClass IPv6 traffic class, 0 to 255
 * @param serviceLevel 0 to 15
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
