package io.heddle.transport.connection;

import io.heddle.platform.Options;
import io.heddle.qppool.PlaneQueuePair.LinkSettings;
import io.heddle.spray.SprayPolicy;
import io.heddle.transport.data.ClearToSend;
import io.heddle.transport.options.InfinibandOptions;
import io.heddle.transport.options.TransportOptions;

/**
 * What the options and NCCL ask of one connection: what a {@link Handshake} needs to know.
 *
 * @param hostName how this end calls itself
 * @param token the listener's secret
 * @param settings how queue pairs are to be connected
 * @param queuePairsPerPlane how many this end would make on each plane
 * @param inlineBytes what this end sends in up to so many bytes travels within its request
 * @param together whether the connecting end wants each queue pair to go over all planes
 * @param retries what to do where a device refuses to connect a queue pair
 * @param timeoutNs how long the other end may say nothing meanwhile
 * @param graceNs how long the connection may then be without any plane
 */
public record ConnectionTerms(
    String hostName,
    byte[] token,
    LinkSettings settings,
    int queuePairsPerPlane,
    int inlineBytes,
    boolean together,
    ConnectRetries retries,
    long timeoutNs,
    long graceNs) {
  /** At the end that listens, whose own packets are clear-to-send entries. */
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
   * At the end that connects, whose packets carry data.
   *
   * @param trafficClass what NCCL gave the communicator; negative where undefined
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
        spansAllPlanes(options),
        new ConnectRetries(
            options.get(InfinibandOptions.RETRY_ANY) == 1,
            Math.toIntExact(options.get(InfinibandOptions.CONNECT_RETRIES)),
            options.get(InfinibandOptions.CONNECT_PAUSE) * 1_000_000L),
        options.get(TransportOptions.CONNECT_TIMEOUT) * 1_000_000L,
        options.get(TransportOptions.GRACE) * 1_000_000L);
  }

  /**
   * The same with a queue pair on each plane whatever the policy: a queue pair over all planes
   * takes no reads, which one-sided operations need.
   */
  ConnectionTerms apart() {
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

  /** Whether each queue pair is to go over all planes. */
  static boolean spansAllPlanes(Options options) {
    return options.get(TransportOptions.POLICY).equals(SprayPolicy.PACKET);
  }
}
