package io.heddle.transport.connection;

import io.heddle.platform.Options;
import io.heddle.qppool.PlaneQueuePair.LinkSettings;
import io.heddle.spray.SprayPolicy;
import io.heddle.transport.data.ClearToSend;
import io.heddle.transport.options.InfinibandOptions;
import io.heddle.transport.options.TransportOptions;

/**
 * Parameters of one {@link Handshake}, from the options and NCCL.
 *
 * @param hostName name of this end in the peer's log
 * @param token the listener's secret
 * @param settings parameters for connecting queue pairs
 * @param queuePairsPerPlane number of queue pairs that this end requests on each plane
 * @param inlineBytes largest payload that this end puts inline into a work request
 * @param spansAllPlanes whether the connecting end wants each queue pair to span all planes
 * @param retries reaction to a device that refuses to connect a queue pair
 * @param timeoutNs longest silence of the other end during the handshake
 * @param graceNs longest time that the connection may later be without any plane
 */
public record ConnectionTerms(
    String hostName,
    byte[] token,
    LinkSettings settings,
    int queuePairsPerPlane,
    int inlineBytes,
    boolean spansAllPlanes,
    ConnectRetries retries,
    long timeoutNs,
    long graceNs) {
  /** Returns the parameters of the listening end, whose own packets are clear-to-send entries. */
  static ConnectionTerms ofListener(Options options, String hostName, byte[] token) {
    long asked = options.get(InfinibandOptions.CLEAR_TO_SEND_TRAFFIC_CLASS);
    return of(
        options,
        hostName,
        token,
        asked >= 0 ? (int) asked : dataTrafficClass(options, 0),
        options.get(InfinibandOptions.USE_INLINE) == 1 ? ClearToSend.BYTES : 0);
  }

  /**
   * Returns the parameters of the connecting end, whose packets carry data.
   *
   * @param trafficClass NCCL's traffic class of the communicator; negative where undefined
   */
  static ConnectionTerms ofInitiator(
      Options options, String hostName, byte[] token, int trafficClass) {
    return of(options, hostName, token, dataTrafficClass(options, Math.max(trafficClass, 0)), 0);
  }

  private static int dataTrafficClass(Options options, int unlessAsked) {
    long asked = options.get(InfinibandOptions.TRAFFIC_CLASS);
    return asked >= 0 ? (int) asked : unlessAsked;
  }

  private static ConnectionTerms of(
      Options options, String hostName, byte[] token, int trafficClass, int inlineBytes) {
    long level = options.get(InfinibandOptions.SERVICE_LEVEL);
    return new ConnectionTerms(
        hostName,
        token,
        new LinkSettings(
            Math.toIntExact(options.get(InfinibandOptions.TIMEOUT)),
            Math.toIntExact(options.get(InfinibandOptions.RETRIES)),
            trafficClass,
            (int) Math.max(level, 0)),
        queuePairsPerPlane(options),
        inlineBytes,
        isPacketPolicy(options),
        new ConnectRetries(
            options.get(InfinibandOptions.RETRY_ANY) == 1,
            Math.toIntExact(options.get(InfinibandOptions.CONNECT_RETRIES)),
            options.get(InfinibandOptions.CONNECT_PAUSE) * 1_000_000L),
        options.get(TransportOptions.CONNECT_TIMEOUT) * 1_000_000L,
        options.get(TransportOptions.GRACE) * 1_000_000L);
  }

  /**
   * Returns these parameters with a queue pair on each plane, regardless of the policy: a queue
   * pair over all planes supports no reads, which one-sided operations need.
   */
  ConnectionTerms withPairPerPlane() {
    return new ConnectionTerms(
        hostName,
        token,
        settings,
        queuePairsPerPlane,
        inlineBytes,
        false,
        retries,
        timeoutNs,
        graceNs);
  }

  public static int queuePairsPerPlane(Options options) {
    return Math.toIntExact(options.get(InfinibandOptions.QUEUE_PAIRS));
  }

  /** Returns whether each queue pair is to span all planes. */
  static boolean isPacketPolicy(Options options) {
    return options.get(TransportOptions.POLICY).equals(SprayPolicy.PACKET);
  }
}
